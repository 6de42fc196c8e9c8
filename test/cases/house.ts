/** The devices of the field cases, with the whole of Readback in front of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CommandSnapshot, Submission } from '../../commands/commands.ts';
import { commandMessage } from '../../domain/message.ts';
import type { Outcome, Verdict } from '../../domain/outcome.ts';
import { type Harness, startReadback } from '../harness/readback.ts';

type SimulatedDevices = Readonly<Record<string, Record<string, unknown>>>;
interface SimulatedHouse {
  readonly limits: Readonly<Record<string, object>>;
  readonly profiles: Readonly<Record<string, object>>;
  readonly devices: SimulatedDevices;
}

/** How many commands of one file run side by side: enough to be quick, few enough to keep the times that devices need. */
export const SIDE_BY_SIDE = 6;

const fileBeside = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** What a case looks like from outside. */
export interface Shown {
  readonly outcome: Outcome;
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /** Sends that got as far as the device's API, by the simulator's own count. */
  readonly sends: number;
  /** Sends by Readback's own count. */
  readonly counted: number;
  readonly certain: boolean;
  readonly safeToSendAgain: boolean;
  readonly detail: string;
  /** What the agent is told. */
  readonly message: string;
  readonly snapshot: CommandSnapshot;
}

export interface House {
  readonly readback: Harness;
  /** Carries the command out and shows what became of it. */
  show(device: string, desired: Record<string, unknown>, more?: Partial<Submission>): Promise<Shown>;
  /** The same for a command that is under way already. */
  shown(device: string, commandId: string): Promise<Shown>;
}

/** `devices`: further simulated devices, and further lines of the catalogue's `devices`. */
export async function openHouse(
  more: (cases: SimulatedDevices) => SimulatedDevices = () => ({}),
  catalogueLines: readonly string[] = [],
): Promise<House> {
  const cases = parse(fileBeside('../simulator/cases.yaml')) as SimulatedHouse;
  const readback = await startReadback({
    ...cases,
    // A shorter window than the simulator's own tests take: the account here is used for several windows.
    limits: { 's8-account': { ...cases.limits['s8-account'], per: '2s' } },
    devices: { ...cases.devices, ...more(cases.devices) },
    catalogue: [fileBeside('catalogue.yaml'), ...catalogueLines].join('\n'),
  });

  // Some devices count from their start, which was before everything else was ready.
  await readback.admin('POST', '/reset');

  async function shown(device: string, commandId: string): Promise<Shown> {
    const snapshot = await readback.ended(commandId);
    const { view } = snapshot;
    assert.ok(view.result, `${commandId} has no result`);
    const { outcome, fields, safeToSendAgain, detail } = view.result;
    return {
      outcome,
      verdicts: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.verdict])),
      sends: (await readback.admin('GET', `/devices/${device}`)).counters.sends.arrived,
      counted: view.sent.count,
      certain: view.sent.certain,
      safeToSendAgain,
      detail,
      message: commandMessage(snapshot, Date.now()),
      snapshot,
    };
  }

  return {
    readback,
    shown,
    show: async (device, desired, submission) =>
      await shown(device, await readback.submit(device, desired, submission)),
  };
}

/** A device of the cases under another id, also in its routes, with other options laid over. */
export function like(
  cases: SimulatedDevices,
  id: string,
  as: string,
  options: Record<string, unknown> = {},
): SimulatedDevices {
  const copy = JSON.parse(JSON.stringify(cases[id]).replaceAll(`/${id}/`, `/${as}/`)) as object;
  return { [as]: { ...copy, ...options } };
}
