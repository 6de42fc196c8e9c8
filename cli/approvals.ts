/** `readback approvals`: what waits for a person, and deciding it. */
import type { Command } from 'commander';
import { allPending } from '../commands/all-pending.ts';
import { decideEach, decisionAsJson, type ItemDecision } from '../commands/decide-each.ts';
import { type ApprovalBrief, approvalBrief, byDeadline, byRisk } from '../domain/approval/brief.ts';
import { callerInWords } from '../domain/message.ts';
import { REPEAT_RISK_IN_WORDS } from '../domain/repeating.ts';
import { formatDuration } from '../domain/text.ts';
import { EXIT, Failure } from './failure.ts';
import {
  type ApproversFlags,
  addApproversFlags,
  addEngineFlags,
  count,
  type EngineFlags,
  flag,
} from './flags.ts';
import { type OpenCommands, openCommands, VIEWER, withCommands } from './open-commands.ts';

interface ListFlags extends EngineFlags {
  readonly limit: number;
  readonly sort: 'deadline' | 'risk';
}

interface DecideFlags extends EngineFlags, ApproversFlags {
  readonly comment?: string;
  readonly reason?: string;
}

export function addApprovals(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('List, show, approve and decline what waits for a person.')
    .addHelpText('after', HELP);
  const listing = approvals
    .command('list')
    .description('What waits, the first to expire first.')
    .addOption(flag('--limit <number>', 'at most so many').default(50).argParser(count))
    .addOption(flag('--sort <by>', 'deadline or risk').choices(['deadline', 'risk']).default('deadline'))
    .action(withCommands<[], ListFlags>(list));
  const several = (name: string, description: string) =>
    approvals
      .command(name)
      .argument('<commandId...>', 'ids, as the list shows them')
      .description(description);
  const showing = several('show', 'Everything that one should know before deciding.').action(
    withCommands<[string[]], EngineFlags>(show),
  );
  const approving = several('approve', 'Approve: the commands are sent.').action(
    (ids: string[], flags: DecideFlags) => decide('approved', ids, flags),
  );
  const declining = several('decline', 'Decline: nothing is sent, and whoever asked is told why.').action(
    (ids: string[], flags: DecideFlags) => decide('declined', ids, flags),
  );
  for (const command of [listing, showing]) addEngineFlags(command);
  for (const command of [approving, declining])
    addApproversFlags(addEngineFlags(command), { withData: false })
      .addOption(flag('--comment <text>', 'recorded with the decision'))
      .addOption(flag('--reason <text>', 'why it is declined; needed for that'));
}

async function list({ commands, catalogue }: OpenCommands, { limit, sort, json }: ListFlags): Promise<void> {
  const { pending, total } = await allPending(commands, MOST_READ);
  const briefs = pending
    .flatMap((snapshot) => approvalBrief(catalogue, snapshot) ?? [])
    .sort(sort === 'risk' ? byRisk : byDeadline);
  const shown = briefs.slice(0, limit);
  if (json) {
    process.stdout.write(`${JSON.stringify({ approvals: shown, total: Math.max(total, briefs.length) })}\n`);
    return;
  }
  const lines = shown.length === 0 ? ['Nothing waits for a decision.'] : shown.map(lineOf);
  if (briefs.length > shown.length)
    lines.push(`… and ${briefs.length - shown.length} more: --limit shows them.`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

const MOST_READ = 5_000;

async function show(
  { commands, catalogue }: OpenCommands,
  { json }: EngineFlags,
  ids: readonly string[],
): Promise<void> {
  const found = await Promise.all(
    ids.map(async (commandId) => {
      const snapshot = await commands.get(commandId, VIEWER);
      const running = snapshot?.status === 'running' ? snapshot : undefined;
      return { commandId, approval: running ? approvalBrief(catalogue, running) : null };
    }),
  );
  if (json) process.stdout.write(`${JSON.stringify({ approvals: found })}\n`);
  else process.stdout.write(`${found.map(shownText).join('\n\n')}\n`);
  if (found.some(({ approval }) => approval === null)) process.exitCode = EXIT.endedBadly;
}

async function decide(
  decision: 'approved' | 'declined',
  ids: readonly string[],
  flags: DecideFlags,
): Promise<void> {
  const words = flags.reason ?? flags.comment ?? null;
  if (decision === 'declined' && words === null)
    throw new Failure(
      EXIT.usage,
      'A decline needs --reason, so that whoever asked can be told. Nothing was decided.',
    );
  const { signedIn } = await import('./approver-secret.ts');
  const { name, subject } = await signedIn(flags);
  const open = await openCommands(flags, { decides: true });
  try {
    const results = await decideEach(open.commands, ids, {
      decision,
      by: name,
      ...(subject !== null && { subject }),
      via: 'cli',
      comment: words,
    });
    tell(results, flags.json === true);
    process.exitCode = exitCodeOf(results);
  } finally {
    await open.close();
  }
}

function tell(results: readonly ItemDecision[], json: boolean): void {
  const text = json
    ? JSON.stringify({
        results: results.map(decisionAsJson),
      })
    : results.map(({ commandId, words }) => `${commandId}  ${words}`).join('\n');
  process.stdout.write(`${text}\n`);
}

function exitCodeOf(results: readonly ItemDecision[]) {
  if (results.some(({ result }) => result.kind === 'unreachable')) return EXIT.noTemporal;
  return results.every(({ asAsked }) => asAsked) ? EXIT.asAsked : EXIT.endedBadly;
}

const changesText = ({ changes }: ApprovalBrief): string =>
  changes.map(({ field, before, desired }) => `${field} ${before} → ${desired}`).join(', ');

const lineOf = (brief: ApprovalBrief): string =>
  `${brief.commandId}  ${formatDuration(brief.expiresAt - Date.now())} left  ${brief.device}: ${changesText(brief)}  from ${brief.requester.subject}${brief.voidBecause === null ? '' : `  VOID: ${brief.voidBecause}`}`;

function shownText({ commandId, approval }: { commandId: string; approval: ApprovalBrief | null }): string {
  if (approval === null)
    return `${commandId}  waits for nothing (any more): readback commands get ${commandId}`;
  const { requester, unverifiable } = approval;
  const from = callerInWords(requester);
  const needs = approval.by === 'operator' ? 'an operator' : 'the requester or an approver';
  return [
    `${approval.deviceName} (${approval.device})  ${changesText(approval)}`,
    `  rule       ${approval.ruleReason ?? 'No reason given.'} Needs ${needs}.`,
    `  asked by   ${requester.subject} (${from}, as reported), ${formatDuration(Date.now() - approval.askedAt)} ago`,
    `  expires    in ${formatDuration(approval.expiresAt - Date.now())}`,
    `  repeating  ${REPEAT_RISK_IN_WORDS[approval.repeating]}`,
    ...(unverifiable.length === 0
      ? []
      : [`  readback   none for ${unverifiable.join(', ')}: nobody can check it`]),
    ...(approval.agentsReason === null
      ? []
      : [`  The agent's own words, a claim that Readback has not checked: "${approval.agentsReason}"`]),
    ...(approval.voidBecause === null
      ? []
      : [`  VOID       ${approval.voidBecause}. A yes would send nothing any more; decline it instead.`]),
    `  id         ${commandId}`,
  ].join('\n');
}

const HELP = `
Deciding asks for your secret, unseen, or takes READBACK_APPROVER_SECRET, or READBACK_APPROVER_SECRET_FILE.
Exit codes: 0 all decided as asked, 1 one was not, 2 wrong usage or secret, 3 Temporal can't be reached.

Examples:
  $ readback approvals list --sort risk
  $ readback approvals approve ID ID --comment "checked by phone"
  $ readback approvals decline ID --reason "somebody is in the cellar"
`;
