/** What every page is made of. Whatever is put into `html` is escaped; strangers' texts are made plain besides. */
import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** `2026-11-30 14:32:05 UTC`; scripts turn it into the reader's own time. */
export function moment(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

/** How long until `at`, counted down by a script. */
export function countdown(at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time class="countdown" datetime="${iso}" data-until="${at}">${leftInWords(at - now)}</time>`;
}

/** How long ago, counted up by a script. */
export function age(at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time class="age" datetime="${iso}" data-since="${at}">${spanInWords(now - at)} ago</time>`;
}

const leftInWords = (ms: number): string => (ms <= 0 ? 'time is over' : `${spanInWords(ms)} left`);

/** `45 s`, `12 min 05 s`, `3 h 20 min`, `2 d 4 h`: two units, as the script counts. */
function spanInWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export const commandPath = (commandId: string): string => `/commands/${encodeURIComponent(commandId)}`;
