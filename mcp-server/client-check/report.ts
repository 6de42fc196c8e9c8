/** What was seen of a client, and what Readback will do for it: for people, and as JSON. */
import { formatDuration } from '../../domain/text.ts';
import { type Answered, NOBODY_ANSWERS_WITHIN_MS, type Seen } from './seen.ts';
import { IN_WORDS, whatItGets } from './what-it-gets.ts';

const NOT_DECLARED = 'not declared, so that nothing is asked there';
const NOT_TRIED = 'not tried yet';
/** After this, hosts commonly give up on a call. */
const READBACK_ANSWERS_WITHIN_MS = 45_000;

export function reportText(seen: Seen): string {
  const { declared } = seen;
  const gets = whatItGets(declared.requester);
  const lines = [
    ['client', `${declared.client}, protocol ${declared.protocol}, over ${declared.requester.transport}`],
    ['declares', declared.capabilities.join(', ') || 'nothing'],
    ['progress', declared.progress ? 'asks for it' : 'does not ask for it'],
    ['model reads', readsInWords(seen)],
    ['forms', formInWords(seen)],
    ['tasks', taskInWords(seen)],
    ['pages', pageInWords(seen)],
    ['patience', patienceInWords(seen)],
  ] as const;
  const promised = [
    ['a command that takes long', IN_WORDS.slow[gets.slow]],
    ['approval by the requester', IN_WORDS.requester[gets.requester]],
    ['approval by an operator', IN_WORDS.operator[gets.operator]],
    ['a value is missing', IN_WORDS.missing[gets.missing]],
  ] as const;
  return [...aligned(lines), '', 'What Readback does for it:', ...aligned(promised), ''].join('\n');
}

export function reportJson(seen: Seen) {
  const { declared, ...rest } = seen;
  const { requester, ...facts } = declared;
  const { transport, tasks, elicitation, legacy, unattended } = requester;
  return {
    ...facts,
    transport,
    declares: { tasks, elicitation, legacy, unattended },
    ...rest,
    formSeenByAPerson: seen.form === null ? null : wasSeen(seen.form),
    gets: whatItGets(requester),
  };
}

const wasSeen = ({ answer, afterMs }: Answered): boolean =>
  answer !== 'none' && afterMs >= NOBODY_ANSWERS_WITHIN_MS;

function readsInWords({ reads }: Seen): string {
  switch (reads) {
    case null:
      return NOT_TRIED;
    case 'neither':
      return 'neither the text of a result nor its structuredContent: it cannot learn what a device did';
    case 'both':
      return 'the text of a result and its structuredContent';
    default:
      return `the ${reads === 'text' ? 'text' : reads} of a result, which is enough: both say the same`;
  }
}

function formInWords({ form, declared: { requester } }: Seen): string {
  if (requester.unattended) return 'told to be unattended: never asked';
  if (!requester.elicitation.form) return NOT_DECLARED;
  if (form === null) return NOT_TRIED;
  const after = `after ${formatDuration(form.afterMs)}`;
  if (form.answer === 'none')
    return `declared, but nobody answered (${after}): approvals then wait in the queue`;
  const how = { yes: 'yes', no: 'no', dismissed: 'dismissed', mistyped: 'accepted without an answer' }[
    form.answer
  ];
  return wasSeen(form)
    ? `shown and answered: ${how}, ${after}`
    : `declared, but answered by the client itself: ${how}, ${after}. No person saw it; such a no decides nothing, and approvals wait in the queue`;
}

function taskInWords({ task, declared: { requester } }: Seen): string {
  if (!requester.tasks)
    return requester.legacy
      ? 'this protocol has none here: a long command is followed by get_command'
      : NOT_DECLARED;
  if (task === null) return NOT_TRIED;
  const how = [
    ...(task.polls === 0 ? [] : [`asked for ${task.polls} times`]),
    ...(task.listened ? ['listened to'] : []),
  ];
  const followed = how.length === 0 ? 'taken, and not asked for yet' : `taken and ${how.join(' and ')}`;
  return `${followed}; its result was ${task.resultFetched ? 'fetched' : 'not fetched'}`;
}

function pageInWords({ page, declared: { requester } }: Seen): string {
  if (!requester.elicitation.url) return NOT_DECLARED;
  if (requester.legacy || requester.unattended) return 'declared, and not used';
  if (page === null) return NOT_TRIED;
  if (page.openedAfterMs !== null) return `opened after ${formatDuration(page.openedAfterMs)}`;
  return page.answer === 'yes' ? 'said to be opened, but nobody opened it' : `not opened (${page.answer})`;
}

function patienceInWords({ patience }: Seen): string {
  if (patience === null) return NOT_TRIED;
  const waited = formatDuration(patience.waitedMs);
  if (!patience.gaveUp) return `waited for a call of ${waited}`;
  return patience.waitedMs > READBACK_ANSWERS_WITHIN_MS
    ? `gave up on a call after ${waited}; Readback answers before that`
    : `gave up on a call after ${waited}: start Readback with a shorter --sync-wait and --task-grace`;
}

function aligned(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, words]) => `  ${name.padEnd(width)}  ${words}`);
}
