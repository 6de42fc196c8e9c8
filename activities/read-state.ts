/** What only looks: a device's present state, what of its entry really reads back, and a command's dry run. */
import { ApplicationFailure } from '@temporalio/common';
import { shownValue } from '../domain/device-scale.ts';
import { type Probe, probeRead } from '../domain/probe.ts';
import { renderSend } from '../domain/rendering.ts';
import {
  type Activities,
  type CommandInput,
  type DeviceState,
  type Rehearsal,
} from '../workflows/activity-types.ts';
import { FAILURE } from '../workflows/messages.ts';
import type { ReadResult } from './adapter.ts';
import { baseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';
import { requirementFor } from './judge.ts';
import { lookAt } from './look.ts';

/** Server and worker notice for themselves that a catalogue has changed; the later one is late by less than this. */
const READ_THE_FILE_WITHIN_MS = 1_500;

type Input = Parameters<Activities['readState']>[0];

export async function readState(
  dependencies: ActivityDependencies,
  { device: id }: Input,
): Promise<DeviceState> {
  const device = deviceOf(dependencies, id);
  if (device === undefined) throw mismatch(id);
  return stateOf(await baseline(dependencies, device, null));
}

/** Done here, since the whole reply may be large, and only the adapter's definition says what was looked for in it. */
export async function probe(dependencies: ActivityDependencies, { device: id }: Input): Promise<Probe> {
  const device = deviceOf(dependencies, id);
  if (device === undefined) throw mismatch(id);
  const read = await baseline(dependencies, device, null);
  const limits = dependencies.catalogue().connections[device.connection]?.limits ?? [];
  return await probeRead(read.device, limits, read);
}

/** Everything a command would do now, but the sending. */
export async function rehearse(
  dependencies: ActivityDependencies,
  { request }: CommandInput,
): Promise<Rehearsal> {
  const device = deviceOf(dependencies, request.device);
  if (device === undefined) throw mismatch(request.device);
  const read = await baseline(dependencies, device, request.desired);
  const look = await lookAt(dependencies, request, read);
  const requirement = await requirementFor(dependencies, device, request, read.sample.fields);
  const baseUrl = dependencies.catalogue().connections[device.connection]?.baseUrl ?? '';
  const rehearsed = { state: stateOf(read), look, requirement };
  const requests = [];
  for (const plan of look.steps) {
    const step = device.send[plan.index];
    if (step === undefined) continue;
    const rendered = await renderSend(device, step, plan.fields, request.desired, look.readings);
    if (!rendered.ok) return { ...rehearsed, look: { ...look, objection: rendered.why }, requests: [] };
    requests.push({
      method: rendered.request.method,
      // A topic has no slash of its own.
      url: `${baseUrl}${rendered.request.path.startsWith('/') ? '' : '/'}${rendered.request.path}`,
      body: rendered.body,
    });
  }
  return { ...rehearsed, requests };
}

function stateOf({ sample, device }: ReadResult): DeviceState {
  const { at, deviceAt, moving, faults, trouble } = sample;
  const readings = Object.fromEntries(
    Object.entries(sample.fields).map(([name, reading]) => [
      name,
      reading.kind === 'value'
        ? { ...reading, value: shownValue(device.fields[name], reading.value) }
        : reading,
    ]),
  );
  return { at, deviceAt, readings, moving, faults, trouble };
}

/** By the second and last attempt, the worker should know what the server knows already. */
const mismatch = (device: string): ApplicationFailure =>
  ApplicationFailure.create({
    message: `${device} is not in the catalogue that the worker has loaded`,
    type: FAILURE.catalogueMismatch,
    nextRetryDelay: READ_THE_FILE_WITHIN_MS,
  });
