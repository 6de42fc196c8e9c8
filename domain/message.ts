/**
 * What is said about a command, in one text that stands alone: what was asked, what the device shows and how old that
 * is, what was sent, and what to do next. Hosts may pass on nothing else.
 */
import { attemptInWords } from './approval/decision.ts';
import type { Caller, CommandView } from './command.ts';
import { endedWell, type Outcome } from './outcome.ts';
import { sentForGood, sentInWords } from './sent.ts';
import { desiredInWords, formatDuration, formatValue, plain } from './text.ts';
import type { Reading, Value } from './values.ts';

export interface TellableCommand {
  readonly commandId: string;
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  readonly view: CommandView;
  readonly live: {
    readonly at: number;
    readonly fields: Readonly<Record<string, Reading>>;
    readonly why: string | null;
  } | null;
  readonly cancelRequested: boolean;
  readonly overdue: boolean;
  readonly failure: string | null;
}

/** Hosts commonly give up on a call after 60 s; this leaves room for the answer to travel. */
export const LONGEST_WAIT_SECONDS = 45;
const LONGEST_NAME = 64;
const LONGEST_REPLY = 300;

/** `queueUrl`: where approvals are decided, if there is such a page. */
export function commandMessage(
  command: TellableCommand,
  now: number,
  queueUrl: string | null = null,
): string {
  const { view, status } = command;
  if (status === 'failed') return `FAILED inside Readback. ${asked(view)}. ${command.failure ?? ''}`.trim();
  if (view.result !== null) return ended(view, view.result.outcome, now);
  if (status === 'cancelled') return `CANCELLED. ${asked(view)}. ${sentForGood(view)}`;
  if (view.approval !== null && status === 'running')
    return waitingForPerson(command, view.approval, now, queueUrl);
  return underWay(command, now);
}

function underWay({ view, live, commandId, cancelRequested, overdue }: TellableCommand, now: number): string {
  const reads =
    live === null ? '' : `, ${readings(view, live.fields)} (${formatDuration(now - live.at)} ago)`;
  const until = view.until === null ? '' : ` until ${clock(view.until)}`;
  const going = overdue
    ? `No worker seems to be running: this is the last known state, of ${clock(view.phaseAt)}. It goes on by itself once one runs.`
    : cancelRequested
      ? 'Cancel requested.'
      : [...doing(view, live?.why ?? null), `Readback goes on by itself${until}.`].join(' ');
  return `NOT DONE. ${asked(view)}${reads}, ${sentInWords(view)}. ${going} Next: get_command(commandId="${commandId}", waitSeconds=${LONGEST_WAIT_SECONDS}), once. Don't call set_device_state again; don't tell the user it is done.`;
}

/** What is waited for: something other than the device, or what keeps the device. */
function doing({ phase, note }: CommandView, why: string | null): string[] {
  const isReadBack = phase === 'settling' || phase === 'verifying';
  const waitingFor = isReadBack ? why : note;
  return waitingFor === null ? [] : [`${capitalised(plain(waitingFor, 200))}.`];
}

function waitingForPerson(
  { view, overdue, commandId }: TellableCommand,
  { by, askedAt, before, expiresAt, reason, attempts }: NonNullable<CommandView['approval']>,
  now: number,
  queueUrl: string | null,
): string {
  const where = queueUrl === null ? 'in the approval queue' : queueUrl;
  const who =
    by === 'operator'
      ? 'an operator (not you, not this user)'
      : 'the person who asked, or an operator (not you)';
  const why = reason === null ? '' : ` Why: ${plain(reason, 200)}`;
  const late = overdue ? ' Its time is over, but no worker seems to be running.' : '';
  const last = attempts?.at(-1);
  const tried = last === undefined ? '' : ` Asked here already: ${attemptInWords(last)}.`;
  const shows = Object.entries(before).map(([field, value]) => reads(view, field, value));
  const seen = shows.length === 0 ? '' : `, ${shows.join(', ')} (${formatDuration(now - askedAt)} ago),`;
  return `NOTHING SENT YET. ${asked(view)}${seen} needs a yes from ${who}: ${where}, until ${clock(expiresAt)}.${why}${tried}${late} Tell the user and end your turn; don't poll. It runs by itself once approved; get_command(commandId="${commandId}") tells later how it ended.`;
}

function ended(view: CommandView, outcome: Outcome, now: number): string {
  const what = `${asked(view)}; ${shown(view, now)}`;
  const joined = view.result?.joined ?? null;
  return [
    headline(view, outcome),
    what,
    // Where nothing could be read, the detail has said it.
    /nothing was sent|been sent/i.test(what) ? '' : capitalised(sentInWords(view)),
    reply(view, outcome),
    joined === null ? '' : `This call joined command ${joined}`,
    next(view, outcome),
  ]
    .filter((sentence) => sentence !== '')
    .map(closed)
    .join(' ');
}

const closed = (sentence: string): string =>
  /[.!?]$/.test(sentence.trim()) ? sentence.trim() : `${sentence.trim()}.`;

/** First words: they decide what somebody who reads no further believes. */
const HEADLINES: Readonly<Record<Outcome, string>> = {
  verified: 'DONE, verified.',
  already: 'DONE: it was so already.',
  unverifiable: 'SENT, but nobody can verify it: what was asked has no readback.',
  unchanged: 'NOT DONE (unchanged): acknowledged, but the device never moved.',
  different: 'NOT DONE (different): the device ended elsewhere.',
  unsettled: 'NOT DONE (unsettled): the device had not come to rest in time.',
  unreadable: 'NOT KNOWN (unreadable): acknowledged, but the device cannot be read.',
  superseded: 'NOT STANDING (superseded): something else took over.',
  refused: 'NOT DONE (refused).',
  unknown: 'NOT KNOWN (unknown): it may have been carried out or not.',
  partial: 'PARTLY DONE (partial).',
  declined: 'NOT DONE (declined): nothing was sent.',
  expired: 'NOT DONE (expired): nothing was sent.',
  undelivered: 'NOT DONE (undelivered): nothing reached the device.',
  cancelled: 'CANCELLED.',
};

/** A fault that vetoes a right value is no other value. */
function headline({ result }: CommandView, outcome: Outcome): string {
  const isFault = Object.values(result?.fields ?? {}).some(({ verdict }) => verdict === 'fault');
  return outcome === 'different' && isFault
    ? 'NOT VERIFIED (different): the device reports a fault.'
    : HEADLINES[outcome];
}

/** What each field shows, in the words of its verdict; the reading's age where there is one. */
function shown({ result }: CommandView, now: number): string {
  if (result === null) return '';
  const fields = Object.entries(result.fields);
  const seen = fields.filter(([, field]) => field.observed !== null);
  if (seen.length === 0) return plain(result.detail, 500);
  const words = fields.map(
    ([name, field]) => `${name} ${fields.length > 1 ? `${field.verdict}: ` : ''}${plain(field.detail, 200)}`,
  );
  const latest = Math.max(...seen.map(([, field]) => field.observed?.at ?? 0));
  return `${words.join('; ')} (read ${formatDuration(now - latest)} ago)`;
}

function reply({ sent }: CommandView, outcome: Outcome): string {
  if (endedWell(outcome) || sent.reply === null) return '';
  const body = plain(sent.reply.body, LONGEST_REPLY);
  return `The API answered HTTP ${sent.reply.status}${body === '' ? '' : `: ${JSON.stringify(body)}`}`;
}

function next(view: CommandView, outcome: Outcome): string {
  if (endedWell(outcome))
    return outcome === 'unverifiable' ? "Tell the user that it was sent and can't be checked" : '';
  const again = view.result?.safeToSendAgain === true;
  switch (outcome) {
    case 'refused':
      return 'It is safe to send again, once what was refused is mended';
    case 'declined':
      return 'A person said no: tell the user, and ask again only if they want you to';
    case 'expired':
      return 'Tell the user; the same call asks again';
    default:
      return again
        ? 'It is safe to send again'
        : `Look first, and do not send it again without that: get_device_state(device="${view.device}")`;
  }
}

const asked = (view: CommandView): string =>
  `"${plain(view.deviceName, LONGEST_NAME)}": asked ${desiredInWords(view)}`;

function readings(view: CommandView, fields: Readonly<Record<string, Reading>>): string {
  const words = Object.keys(view.desired).map((name) => {
    const reading = fields[name];
    return reads(view, name, reading?.kind === 'value' ? reading.value : null);
  });
  return words.join(', ');
}

/** null: it can't be read. */
function reads({ units }: CommandView, field: string, value: Value | null): string {
  return value === null
    ? `${field} can't be read`
    : `${field} reads ${formatValue(value, units[field] ?? null)}`;
}

/** Who asked, as far as they said it themselves: `claude, http, unattended`. */
export const callerInWords = ({
  client,
  transport,
  unattended,
}: Pick<Caller, 'client' | 'unattended'> & { readonly transport: string }): string =>
  [client, transport, unattended ? 'unattended' : null]
    .filter((part) => part !== null)
    .map((part) => plain(part, LONGEST_NAME))
    .join(', ');

/** `2026-03-01 14:32 UTC`: whoever reads it may be in another zone, on another day. */
const clock = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
