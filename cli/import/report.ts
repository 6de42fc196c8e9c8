/** What an import found and did, for people and for programs. */
import type { ImportPlan } from '../../domain/import/plan.ts';
import type { LeftOut } from '../../domain/import/proposal.ts';
import { plain } from '../../domain/text.ts';

export interface ImportReport extends Omit<ImportPlan, 'text'> {
  readonly file: string;
  readonly connection: string;
  readonly written: boolean;
  /** What changes in the file, as a unified diff; empty: nothing. */
  readonly diff: string;
}

/** As text; a dry run shows the difference in place of what was added. */
export function reportText(report: ImportReport, isDryRun: boolean): string {
  const { added, same, differing, gone, approvals, connection, diff } = report;
  const lines = [
    ...(isDryRun ? [diff === '' ? [] : [diff.trimEnd(), '']] : [added.map(addedText)]).flat(),
    `${counted(added.length, 'device')} ${isDryRun ? 'would be ' : ''}added on connection ${connection}, ${same.length} there already.`,
    ...section(
      'Told otherwise than in the catalogue, which stays as it is:',
      differing.map(({ id, differences }) => `${id}: ${differences.join('; ')}`),
    ),
    ...section(
      'In the catalogue, and not found (--prune takes them out):',
      gone.flatMap((one) => (one.removed ? [] : [goneText(one)])),
    ),
    ...section(
      'Taken out:',
      gone.flatMap((one) => (one.removed ? [goneText(one)] : [])),
    ),
    ...section('Left out:', leftOutText(report.leftOut)),
    ...section(
      'Approval rules added, since nobody should find a door open; take out what is too strict:',
      approvals.map((rule) => JSON.stringify(rule)),
    ),
    closing(report, isDryRun),
  ];
  return `${lines.join('\n')}\n`;
}

function closing({ written, file, approvals }: ImportReport, isDryRun: boolean): string {
  if (isDryRun) return 'Nothing was written (--dry-run).';
  if (!written) return `Nothing to write: ${file} is as it was.`;
  const approvers = approvals.some(({ by }) => by === 'operator')
    ? ' Somebody has to be able to say yes: readback approvers add.'
    : '';
  return `Written: ${file}. It takes effect when Readback reads it again.${approvers}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

function addedText({ id, name, identity, fields }: ImportPlan['added'][number]): string {
  return `+ ${id}  ${JSON.stringify(plain(name, 64))} (${plain(identity, 120)}): ${Object.keys(fields).join(', ')}`;
}

const goneText = ({ id, identity }: ImportPlan['gone'][number]): string => `${id} (${plain(identity, 120)})`;

/** One line a reason: a house has hundreds of sensors. */
function leftOutText(leftOut: readonly LeftOut[]): readonly string[] {
  const reasons = new Map<string, string[]>();
  for (const { identity, why } of leftOut)
    reasons.set(why, [...(reasons.get(why) ?? []), plain(identity, 120)]);
  return [...reasons]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(
      ([why, who]) =>
        `${who.length} (${plain(why, 200)}): ${who.slice(0, 3).join(', ')}${who.length > 3 ? ', …' : ''}`,
    );
}
