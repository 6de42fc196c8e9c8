/** There and back again: how long a device takes to show what it was sent. */
import type { CommandSnapshot } from '../commands/commands.ts';
import type { SettlePolicy } from '../domain/catalogue/definition.ts';
import { parseDesired } from '../domain/desired.ts';
import { findDevice } from '../domain/devices.ts';
import {
  type Movement,
  movementOf,
  type SuggestedSettle,
  suggestedSettle,
} from '../domain/settle-measured.ts';
import { desiredInWords, formatDuration, formatValue } from '../domain/text.ts';
import type { Desired } from '../domain/values.ts';
import type { Assignments } from './assignments.ts';
import { EXIT, Failure } from './failure.ts';
import { cliCaller, type OpenCommands, VIEWER } from './open-commands.ts';
import { commandLine, fieldsOf } from './snapshot-text.ts';
import { changes } from './watch.ts';

export interface Measured {
  readonly movements: readonly Movement[];
  /** null: nothing could be measured. */
  readonly suggested: SuggestedSettle | null;
}

const REASON = 'to measure how long it takes to settle';

/**
 * Sends `asked`, then the values that were there before, as ordinary commands: approval rules and lanes hold for them too.
 * Throws a `Failure` where there is nothing to go back to, or a command didn't end verified; what it did is said, and where
 * the device may have been left elsewhere, what it had before. Ctrl-C stops it likewise.
 */
export async function measure(
  open: OpenCommands,
  device: string,
  asked: Assignments,
  told: boolean,
): Promise<Measured> {
  const previous = await valuesToGoBackTo(open, device, asked);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGINT', stop);
  const trip: Trip = { open, device, told, stopped: stopped.signal, isAway: false };
  const movements: Movement[] = [];
  try {
    for (const desired of [asked, previous]) movements.push(...(await moved(trip, desired)));
  } catch (error) {
    if (trip.isAway) process.stderr.write(`${notBroughtBack(device, previous)}\n`);
    throw error;
  } finally {
    process.off('SIGINT', stop);
  }
  const suggested = suggestedSettle(movements);
  const found = findDevice(open.catalogue, device);
  const policy = found.ok ? found.device.settle : undefined;
  if (told) process.stdout.write(`${measuredText(movements, suggested, policy)}\n`);
  return { movements, suggested };
}

interface Trip {
  readonly open: OpenCommands;
  readonly device: string;
  readonly told: boolean;
  readonly stopped: AbortSignal;
  /** Something was sent, or may yet be, and the device is not known to be back. */
  isAway: boolean;
}

function notBroughtBack(device: string, previous: Desired): string {
  const were = Object.entries(previous).map(([field, value]) => `${field}=${String(value)}`);
  return `${device} is not brought back: before, it had ${were.join(', ')}.`;
}

/** What there is now, all of it such that it can be sent again. */
async function valuesToGoBackTo(
  { commands, catalogue }: OpenCommands,
  device: string,
  asked: Assignments,
): Promise<Desired> {
  const { trouble, fields } = await commands.readState(device);
  const values: Record<string, string | number | boolean> = {};
  for (const name of Object.keys(asked)) {
    const reading = fields[name];
    if (trouble === null && reading?.kind === 'value') {
      values[name] = reading.value;
      continue;
    }
    const unread = trouble ?? (reading?.kind === 'value' ? null : reading?.why) ?? 'no such field reads back';
    throw new Failure(EXIT.usage, `${name} of ${device} can't be measured: ${unread}. Nothing was sent.`);
  }
  const found = findDevice(catalogue, device);
  const parsed = found.ok ? parseDesired(found.device, values) : null;
  if (parsed?.ok === false)
    throw new Failure(
      EXIT.usage,
      `${device} can't be measured: what it has now could not be sent back. ${parsed.problems.join('\n')}`,
    );
  return values;
}

/** One command to its end. */
async function moved(trip: Trip, desired: Assignments | Desired): Promise<Movement[]> {
  const { open, device, stopped } = trip;
  const { commands } = open;
  if (stopped.aborted) throw new Failure(EXIT.watchedNoMore, 'Stopped.');
  const submitted = await commands.submit({ device, desired, caller: cliCaller(), reason: REASON });
  const { commandId } = submitted;
  const wasAway = trip.isAway;
  trip.isAway = true;
  const snapshot = await watched(trip, commandId);
  if (snapshot?.status === 'running')
    throw new Failure(
      EXIT.watchedNoMore,
      `Stopped. ${commandId} goes on by itself; to stop it: readback commands cancel ${commandId}`,
    );
  const result = snapshot?.view.result;
  if (submitted.kind === 'repeatRefused' || (result && snapshot?.view.sent.count === 0))
    trip.isAway = wasAway;
  if (!snapshot || result?.outcome !== 'verified')
    throw new Failure(
      EXIT.endedBadly,
      `Only a verified command can be measured; ${commandId} ended ${result?.outcome ?? snapshot?.status}: ${result?.detail ?? snapshot?.failure ?? ''}`,
    );
  trip.isAway = !wasAway;
  const timeline = (await commands.timeline(commandId, VIEWER)) ?? [];
  const sends = timeline.flatMap((entry) => (entry.kind === 'send' ? [entry.at] : []));
  return Object.keys(snapshot.view.desired).flatMap(
    (field) => movementOf(result.samples, field, sends) ?? [],
  );
}

/** As it was when it ended, or when nobody waited any more. */
async function watched(
  { open, told, stopped }: Trip,
  commandId: string,
): Promise<CommandSnapshot | undefined> {
  let last: CommandSnapshot | undefined;
  for await (const snapshot of changes(open, commandId, stopped)) {
    last = snapshot;
    const line = commandLine(snapshot, fieldsOf(open.catalogue, snapshot.view.device));
    if (told) process.stderr.write(`${desiredInWords(snapshot.view)}: ${line}\n`);
  }
  return last;
}

function measuredText(
  movements: readonly Movement[],
  suggested: SuggestedSettle | null,
  policy: SettlePolicy | undefined,
): string {
  if (suggested === null) return 'Nothing was measured: no reading changed.';
  const lines = movements.map(({ field, to, stirredMs, arrivedMs, blurMs, paused }) =>
    [
      `  ${field} → ${formatValue(to, null)}: there after ${formatDuration(arrivedMs)} (at most ${formatDuration(blurMs)} earlier)`,
      ...(stirredMs < arrivedMs ? [`first stirred after ${formatDuration(stirredMs)}`] : []),
      ...(paused > 0 ? [`showed something else for ${formatDuration(paused)} on the way`] : []),
    ].join(', '),
  );
  const now = policy === undefined ? '' : `  # now: ${settleYaml(policy)}`;
  return [
    'Measured:',
    ...lines,
    'That speaks for:',
    `  settle: ${settleYaml(suggested)}${now}`,
    ...(movements.length < 4 ? ['Two measurements are few: slower days need more room in `within`.'] : []),
  ].join('\n');
}

const settleYaml = ({ firstMs, everyMs, withinMs, stableMs, lagMs }: SuggestedSettle): string =>
  `{ first: ${yamlDuration(firstMs)}, every: ${yamlDuration(everyMs)}, within: ${yamlDuration(withinMs)}, stable: ${yamlDuration(stableMs)}, lag: ${yamlDuration(lagMs)} }`;

/** As the catalogue writes durations. */
const yamlDuration = (ms: number): string => {
  if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
};
