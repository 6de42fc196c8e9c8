/** What a client's elicitation response means. A yes is `accept` and a boolean `true`, and nothing else is. */

/** Anything may come in: the response is a stranger's. */
export function decisionOf(response: unknown): 'approved' | 'declined' | 'dismissed' {
  const { action, content } = asRecord(response);
  if (action === 'decline') return 'declined';
  if (action !== 'accept') return 'dismissed';
  const said = asRecord(content)['approve'];
  if (said === true) return 'approved';
  // Anything but a boolean was mistyped: no decision, so the approval stays open.
  return said === false ? 'declined' : 'dismissed';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
