/** A command's story, one line for each thing that happened. */
import { html } from 'hono/html';
import type { CommandSnapshot, TimelineEntry } from '../../commands/commands.ts';
import { formatDuration, plain } from '../../domain/text.ts';
import { type Html, moment } from './html.ts';

export function timelineList(
  timeline: readonly TimelineEntry[],
  { createdAt }: CommandSnapshot,
  now: number,
): Html {
  return html`<ol class="timeline">${timeline.map((entry) => {
    const { mark, text } = told(entry, now);
    return html`<li class="${mark}"><span class="at" title="since it was accepted">+${formatDuration(entry.at - createdAt)}</span> ${moment(entry.at)} <span class="what">${text}</span></li>`;
  })}</ol>`;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface Told {
  readonly mark: 'plain' | 'sent' | 'answer' | 'end';
  readonly text: Html | string;
}

function told(entry: TimelineEntry, now: number): Told {
  switch (entry.kind) {
    case 'accepted':
      return { mark: 'plain', text: 'Accepted' };
    case 'cancelRequested':
      return { mark: 'plain', text: 'Cancel requested' };
    case 'phase':
      return {
        mark: 'plain',
        text: html`${capitalised(plain(entry.note, 300))}${entry.expiresAt === null ? '' : html`, until ${moment(entry.expiresAt)}`}`,
      };
    case 'answer':
      return { mark: 'answer', text: answerText(entry) };
    case 'send':
      return { mark: 'sent', text: sendText(entry, now) };
    case 'ended':
      return { mark: 'end', text: html`Ended <b>${entry.outcome}</b>: ${plain(entry.detail, 500)}` };
  }
}

function answerText(entry: Extract<TimelineEntry, { kind: 'answer' }>): Html {
  const { decision, by, via, comment, sealed, taken } = entry;
  const doubts = [
    taken === false ? 'did not count' : null,
    sealed ? null : 'by hand in Temporal: nobody has verified who',
  ].filter((doubt) => doubt !== null);
  return html`${plain(by, 64)} ${decision} <span class="faint">(${[plain(via, 20), ...doubts].join('; ')})</span>${
    comment === null ? '' : html`: <q>${plain(comment, 500)}</q>`
  }`;
}

function sendText({ at, endedAt, result }: Extract<TimelineEntry, { kind: 'send' }>, now: number): Html {
  if (result === null)
    return html`${endedAt === null ? `Sending, for ${formatDuration(now - at)}` : 'Sent, and no reply was recorded: it may have arrived'}`;
  const detail = html`${plain(result.detail, 300)} after ${formatDuration((endedAt ?? at) - at)}`;
  if (ARRIVED_NOWHERE.has(result.class)) return html`Nothing was sent: ${detail}`;
  if (result.class === 'lost') return html`Sent, perhaps without arriving: ${detail}`;
  const body = plain(result.reply?.body ?? '', 300);
  return html`Sent; ${detail}${body === '' ? '' : html`: <code>${body}</code>`}`;
}

/** The attempts after which the device has certainly got nothing. */
const ARRIVED_NOWHERE = new Set<string>(['unreached', 'notNeeded', 'void']);

/** Epoch ms of each send that arrived, or may have. */
export const sendsOf = (timeline: readonly TimelineEntry[]): number[] =>
  timeline.flatMap((entry) =>
    entry.kind === 'send' && (entry.result === null || !ARRIVED_NOWHERE.has(entry.result.class))
      ? [entry.at]
      : [],
  );
