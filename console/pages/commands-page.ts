/** Commands in flight, and what became of those before. */
import { html } from 'hono/html';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { endedWell } from '../../domain/outcome.ts';
import { sentInWords } from '../../domain/sent.ts';
import { desiredInWords, plain } from '../../domain/text.ts';
import { age, commandPath, type Html } from './html.ts';

export function commandsPage(
  { open, recent }: { open: readonly CommandSnapshot[]; recent: readonly CommandSnapshot[] },
  now: number,
): Html {
  return html`<h1>Commands</h1>
<h2 id="open-title">In flight</h2>
${open.length === 0 ? html`<p class="empty">None.</p>` : table('open-title', open, now)}
<h2 id="recent-title">Ended</h2>
${recent.length === 0 ? html`<p class="empty">None yet.</p>` : table('recent-title', recent, now)}`;
}

const table = (
  titleId: string,
  snapshots: readonly CommandSnapshot[],
  now: number,
): Html => html`<table class="list" aria-labelledby="${titleId}">
<thead><tr><th scope="col">Device</th><th scope="col">Asked</th><th scope="col">State</th><th scope="col">Sent</th><th scope="col">Asked by</th><th scope="col">When</th></tr></thead>
<tbody>${snapshots.map((snapshot) => row(snapshot, now))}</tbody>
</table>`;

function row(snapshot: CommandSnapshot, now: number): Html {
  const { commandId, view, createdAt } = snapshot;
  return html`<tr data-id="${commandId}" tabindex="-1">
<th scope="row"><a href="${commandPath(commandId)}">${plain(view.deviceName, 64)}</a></th>
<td>${desiredInWords(view)}</td>
<td>${stateBadge(snapshot)}</td>
<td>${sentInWords(view)}</td>
<td>${plain(view.owner, 64)}</td>
<td>${age(createdAt, now)}</td>
</tr>`;
}

/** The outcome, or what goes on. A mark besides the colour says which kind it is. */
export function stateBadge({ status, view, cancelRequested, overdue }: CommandSnapshot): Html {
  if (view.result !== null) {
    const { outcome } = view.result;
    // Somebody said no, or stopped it: it went as a person wanted, so it needs nobody's attention.
    const kind = endedWell(outcome)
      ? 'good'
      : outcome === 'declined' || outcome === 'cancelled'
        ? 'plain'
        : 'bad';
    return html`<span class="badge ${kind}">${outcome}</span>`;
  }
  if (status === 'failed') return html`<span class="badge bad">failed inside Readback</span>`;
  if (status === 'cancelled') return html`<span class="badge plain">cancelled</span>`;
  const words = overdue
    ? 'no worker seems to be running'
    : cancelRequested
      ? 'cancel requested'
      : view.phase.replaceAll('_', ' ');
  return html`<span class="badge ${overdue ? 'bad' : 'busy'}">${words}</span>`;
}
