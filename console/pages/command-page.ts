/** One command: what was asked, what the device shows, what happened. */
import { html } from 'hono/html';
import type { CommandSnapshot, TimelineEntry } from '../../commands/commands.ts';
import type { ApprovalBrief } from '../../domain/approval/brief.ts';
import { callerInWords } from '../../domain/message.ts';
import type { SampleRun } from '../../domain/outcome.ts';
import { sentInWords } from '../../domain/sent.ts';
import { desiredInWords, formatValue, plain } from '../../domain/text.ts';
import type { Reading } from '../../domain/values.ts';
import type { Session } from '../session.ts';
import { approvalBody } from './approval-card.ts';
import { chart } from './chart.ts';
import { stateBadge } from './commands-page.ts';
import { age, countdown, type Html, moment } from './html.ts';
import { sendsOf, timelineList } from './timeline-list.ts';

export interface ShownCommand {
  readonly snapshot: CommandSnapshot;
  readonly timeline: readonly TimelineEntry[];
  /** Set while it waits for a decision. */
  readonly brief: ApprovalBrief | null;
  /** Its workflow in the Temporal UI, where that is known. */
  readonly workflowUrl: string | null;
  readonly session: Session | null;
  readonly now: number;
}

export function commandPage(shown: ShownCommand): Html {
  const { snapshot, timeline, brief, workflowUrl, session, now } = shown;
  const { view, commandId } = snapshot;
  const samples = view.result?.samples ?? snapshot.live?.samples ?? [];
  const sends = sendsOf(timeline);
  const charts = Object.keys(view.desired).flatMap((field) => {
    const runs = samples.filter((run) => run.field === field);
    return runs.length === 0 ? [] : [chart({ field, view, runs, sends })];
  });
  return html`<article data-id="${commandId}">
<div class="title"><h1>${plain(view.deviceName, 64)}</h1>${stateBadge(snapshot)}
${brief === null ? '' : countdown(brief.expiresAt, now)}</div>
<p class="faint">${plain(view.device, 64)} · asked ${age(snapshot.createdAt, now)} · command <code>${commandId}</code>${
    workflowUrl === null
      ? ''
      : html` · <a href="${workflowUrl}" rel="noreferrer">its workflow in Temporal</a>`
  }</p>
${summary(snapshot)}
${brief === null ? facts(snapshot) : approvalBody(brief, { now, session, alone: true })}
${fieldsTable(snapshot)}
${charts.length === 0 ? '' : html`<h2>Desired and read back</h2>${charts}${samplesTable(snapshot, samples)}`}
<h2>What happened</h2>
${timelineList(timeline, snapshot, now)}
</article>`;
}

function summary({ status, view, failure, live, cancelRequested, overdue }: CommandSnapshot): Html {
  const told = (text: string): Html => html`<p class="summary">${plain(text, 600)}</p>`;
  if (view.result !== null) return told(view.result.detail);
  if (status !== 'running') return told(failure ?? `It is ${status}; ${sentInWords(view)}.`);
  if (overdue)
    return told(
      'No worker seems to be running: this is the last known state. It goes on by itself once one runs.',
    );
  if (cancelRequested) return told(`Cancel requested; ${sentInWords(view)}.`);
  const note = capitalised(live === null || live.note === '' ? view.note : live.note);
  return told(
    view.approval === null
      ? `${note}; ${sentInWords(view)}. Readback goes on by itself.`
      : `${note}. Nothing has been sent; approving sends it.`,
  );
}

function facts({ view }: CommandSnapshot): Html {
  const { caller, decidedBy, reason, sent, resendOf } = view;
  return html`<dl class="facts">
<div><dt>Asked by</dt><dd>${plain(view.owner, 64)} <span class="faint">(${callerInWords(caller)}, as reported)</span></dd></div>
${decidedBy === null ? '' : html`<div><dt>${capitalised(decidedBy.decision)} by</dt><dd>${plain(decidedBy.by, 64)} <span class="faint">(${decidedBy.via}${decidedBy.authenticated ? '' : ', not verified who'})</span>, ${moment(decidedBy.at)}${decidedBy.comment === null ? '' : html`: <q>${plain(decidedBy.comment, 500)}</q>`}</dd></div>`}
<div><dt>Sent</dt><dd>${sentInWords({ sent })}${sent.reply === null ? '' : html`; the API answered HTTP ${sent.reply.status} <code>${plain(sent.reply.body, 300)}</code>`}</dd></div>
${resendOf === null ? '' : html`<div><dt>Resend of</dt><dd><code>${plain(resendOf, 64)}</code></dd></div>`}
${reason === null ? '' : html`<div class="claim"><dt>The agent's own words</dt><dd><q>${plain(reason, 200)}</q> <span class="faint">A claim. Readback has not checked it.</span></dd></div>`}
</dl>`;
}

function fieldsTable({ view, live }: CommandSnapshot): Html {
  if (view.approval !== null) return html``;
  const rows = Object.entries(view.desired).map(([field, desired]) => {
    const unit = view.units[field] ?? null;
    const ended = view.result?.fields[field];
    const now =
      ended === undefined
        ? readingText(live?.fields[field], unit)
        : formatValue(ended.observed?.value ?? null, unit);
    return html`<tr><th scope="row">${plain(field, 64)}</th><td data-label="before">${formatValue(view.previous[field] ?? null, unit)}</td><td data-label="asked">${formatValue(desired, unit)}</td>
<td data-label="read back">${now}</td><td>${ended === undefined ? '' : html`${ended.verdict}: ${plain(ended.detail, 300)}`}</td></tr>`;
  });
  return html`<table class="list"><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">Asked</th><th scope="col">Read back</th><th scope="col">Verdict</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function readingText(reading: Reading | undefined, unit: string | null): string {
  if (reading === undefined) return 'not yet';
  return reading.kind === 'value' ? formatValue(reading.value, unit) : plain(reading.why, 100);
}

const samplesTable = (
  { view }: CommandSnapshot,
  runs: readonly SampleRun[],
): Html => html`<details><summary>The readings as a table</summary>
<table class="list"><thead><tr><th scope="col">Field</th><th scope="col">Read</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Reads</th></tr></thead><tbody>${runs.map(
  (run) =>
    html`<tr><th scope="row">${plain(run.field, 64)}</th><td>${run.value === null ? `unreadable: ${plain(run.note ?? '', 200)}` : formatValue(run.value, view.units[run.field] ?? null)}</td><td>${moment(run.firstAt)}</td><td>${moment(run.lastAt)}</td><td>${run.reads}</td></tr>`,
)}</tbody></table></details>`;

export const commandTitle = (snapshot: CommandSnapshot): string =>
  `${plain(snapshot.view.deviceName, 64)}: ${desiredInWords(snapshot.view)}`;

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
