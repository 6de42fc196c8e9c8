/** How often a command was sent, in words: no more, and no less, than is certain. */
import type { SentEvidence } from './outcome.ts';

interface Sent {
  readonly sent: Pick<SentEvidence, 'count' | 'certain'>;
}

/** `nothing was sent`, `sent once`, `sent twice, not certain to have arrived`. */
export function sentInWords({ sent }: Sent): string {
  if (sent.count === 0) return 'nothing was sent';
  const times = sent.count === 1 ? 'once' : sent.count === 2 ? 'twice' : `${sent.count} times`;
  return sent.certain ? `sent ${times}` : `sent ${times}, not certain to have arrived`;
}

/** `Nothing was sent.`, `It had been sent once; that is not undone.` */
export const sentForGood = (view: Sent): string =>
  view.sent.count === 0 ? 'Nothing was sent.' : `It had been ${sentInWords(view)}; that is not undone.`;
