/** There and back again: how long a device takes to show what it was sent. */
import type { CommandSnapshot } from '../commands/commands.ts';
import type { SettlePolicy } from '../domain/catalogue/definition.ts';
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

export interface Measured {
  readonly movements: readonly Movement[];
  /** null: nothing could be measured. */
  readonly suggested: SuggestedSettle | null;
}

/** Temporal pushes the end of a command; this only bounds one wait for it. */
const WAIT_MS = 30_000;
const REASON = 'to measure how long it takes to settle';

/**
 * Sends `asked`, then the values that were there before, as ordinary commands: approval rules and lanes hold for them too.
 * Throws a `Failure` where there is nothing to go back to, or a command didn't end verified; what it did is said.
 */
export async function measure(
  open: OpenCommands,
  device: string,
  asked: Assignments,
  told: boolean,
): Promise<Measured> {
  const previous = await valuesNow(open, device, asked);
  const there = await moved(open, device, asked, told);
  const back = await moved(open, device, previous, told).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const were = Object.entries(previous).map(([field, value]) => `${field}=${String(value)}`);
    throw new Failure(
      error.exitCode,
      `${error.message}\nIt was not brought back: it had ${were.join(', ')}.`,
    );
  });
  const movements = [...there, ...back];
  const suggested = suggestedSettle(movements);
  const policy = Object.values(open.catalogue.devices).find(({ id }) => id === device)?.settle;
  if (told) process.stdout.write(`${measuredText(movements, suggested, policy)}\n`);
  return { movements, suggested };
}

async function valuesNow({ commands }: OpenCommands, device: string, asked: Assignments): Promise<Desired> {
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
  return values;
}

/** One command to its end. */
async function moved(
  open: OpenCommands,
  device: string,
  desired: Assignments | Desired,
  told: boolean,
): Promise<Movement[]> {
  const { commands } = open;
  const { commandId } = await commands.submit({ device, desired, caller: cliCaller(), reason: REASON });
  let shown = '';
  let snapshot: CommandSnapshot | undefined;
  do {
    snapshot = await commands.wait(commandId, VIEWER, { timeoutMs: WAIT_MS });
    const line = snapshot ? commandLine(snapshot, fieldsOf(open.catalogue, snapshot.view.device)) : shown;
    if (told && snapshot && line !== shown)
      process.stderr.write(`${desiredInWords(snapshot.view)}: ${line}\n`);
    shown = line;
  } while (snapshot?.status === 'running');
  const result = snapshot?.view.result;
  if (!snapshot || result?.outcome !== 'verified') {
    throw new Failure(
      EXIT.endedBadly,
      `Only a verified command can be measured; ${commandId} ended ${result?.outcome ?? snapshot?.status}: ${result?.detail ?? snapshot?.failure ?? ''}`,
    );
  }
  const timeline = (await commands.timeline(commandId, VIEWER)) ?? [];
  const sent = timeline.find((entry) => entry.kind === 'send');
  if (sent === undefined) return [];
  return Object.keys(snapshot.view.desired).flatMap(
    (field) => movementOf(result.samples, field, sent.at) ?? [],
  );
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
