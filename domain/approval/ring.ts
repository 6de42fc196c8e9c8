/** What is told to the outside when an approval waits: enough to know whether to look, and nothing secret. */
import type { Catalogue } from '../catalogue/definition.ts';
import type { CommandView } from '../command.ts';
import { plain } from '../text.ts';
import { approvalBrief } from './brief.ts';

export interface Ring {
  /** The same for every attempt for one approval, so that who has heard it once knows it again. */
  readonly id: string;
  /** JSON: `{ type, timestamp, data }`, at most 4 KB, the same for every attempt. */
  readonly body: string;
}

const LARGEST_BODY_BYTES = 4096;
/** Whoever decides reads it whole where they do. */
const LONGEST_VALUE = 66;
/** Enough to know one's own by. */
const LONGEST_SUBJECT = 128;
/** With everything else at its longest there is room for this. */
const LONGEST_LINK = 1000;

/**
 * null: nothing waits any more. `consoleUrl`: where people decide, if that is known. The agent's own words are left out:
 * a telephone's screen doesn't tell them from Readback's.
 */
export function approvalRing(
  catalogue: Catalogue,
  command: { readonly commandId: string; readonly view: CommandView },
  consoleUrl: string | null,
): Ring | null {
  const brief = approvalBrief(catalogue, command);
  if (brief === null) return null;
  const { commandId, device, deviceName, changes, by, ruleReason, requester, askedAt, expiresAt } = brief;
  const told = changes.map(({ field, before, desired }) => ({
    field,
    before: plain(before, LONGEST_VALUE),
    desired: plain(desired, LONGEST_VALUE),
  }));
  const bodyWith = (shown: number): string =>
    JSON.stringify({
      type: 'approval.pending',
      timestamp: new Date(askedAt).toISOString(),
      data: {
        commandId,
        device,
        deviceName,
        changes: told.slice(0, shown),
        ...(shown < told.length ? { moreChanges: told.length - shown } : {}),
        neededBy: by,
        ruleReason,
        requester: { subject: plain(requester.subject, LONGEST_SUBJECT), client: requester.client },
        expiresAt: new Date(expiresAt).toISOString(),
        url: linkTo(commandId, consoleUrl),
      },
    });
  let shown = told.length;
  while (shown > 0 && Buffer.byteLength(bodyWith(shown)) > LARGEST_BODY_BYTES) shown -= 1;
  return { id: `approval-${commandId}`, body: bodyWith(shown) };
}

/** Of the page on which a command's approval is decided; null: not known, or longer than any link should be. */
export function linkTo(commandId: string, consoleUrl: string | null): string | null {
  if (consoleUrl === null || !URL.canParse(consoleUrl)) return null;
  const { href } = new URL(`commands/${encodeURIComponent(commandId)}`, consoleUrl.replace(/\/*$/, '/'));
  return href.length <= LONGEST_LINK ? href : null;
}
