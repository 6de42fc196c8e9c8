/** What a client's elicitation response means. A yes is `accept` and a boolean `true`, and nothing else is. */
import type { SaidAboutApproval } from './decision.ts';

/**
 * Anything may come in: the response is a stranger's. A client that was given a page to open (`url`) can say no, but its
 * `accept` says that the page was opened, and nothing else.
 */
export function decisionOf(response: unknown, via: string): SaidAboutApproval {
  const { action, content } = asRecord(response);
  if (action === 'decline') return 'declined';
  if (action === 'cancel') return 'dismissed';
  if (action !== 'accept') return 'mistyped';
  if (via === 'url') return 'opened';
  const said = asRecord(content)['approve'];
  if (said === true) return 'approved';
  return said === false ? 'declined' : 'mistyped';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
