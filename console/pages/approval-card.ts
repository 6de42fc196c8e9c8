/** One approval as an operator sees it, with the forms that decide it. They work without any script. */
import { html } from 'hono/html';
import type { ApprovalBrief } from '../../domain/approval/brief.ts';
import { samePerson } from '../../domain/approval/person.ts';
import { callerInWords } from '../../domain/message.ts';
import { REPEAT_RISK_IN_WORDS } from '../../domain/repeating.ts';
import type { Session } from '../session.ts';
import { age, commandPath, countdown, type Html } from './html.ts';

interface CardOptions {
  readonly now: number;
  readonly session: Session | null;
  /** On a page of its own there is room for a comment. */
  readonly alone?: true;
}

/** In the list, where several can be selected. */
export function approvalCard(brief: ApprovalBrief, options: CardOptions): Html {
  const { commandId, deviceName, device, area } = brief;
  const title = `title-${commandId}`;
  return html`<li class="card" id="card-${commandId}" data-id="${commandId}" tabindex="-1" aria-labelledby="${title}">
<div class="head">
${
  options.session === null
    ? ''
    : html`<input type="checkbox" name="id" value="${commandId}" form="several" aria-label="Select ${deviceName}">`
}
<h2 id="${title}"><a href="${commandPath(commandId)}">${deviceName}</a></h2>
<span class="faint">${[device, area].filter((part) => part !== null && part !== deviceName).join(', ')}</span>
${countdown(brief.expiresAt, options.now)}
</div>
${approvalBody(brief, options)}
</li>`;
}

/** What is asked, by whom and why, and the forms for those who may decide. */
export function approvalBody(brief: ApprovalBrief, options: CardOptions): Html {
  const { requester, by, ruleReason, agentsReason, repeating, unverifiable } = brief;
  const from = callerInWords(requester);
  return html`<div class="asked">
${changes(brief.changes)}
<dl class="facts">
<div><dt>Rule</dt><dd>${ruleReason ?? html`<span class="faint">No reason given.</span>`} <span class="faint">Needs ${by === 'operator' ? 'an operator' : 'the requester or an approver'}.</span></dd></div>
<div><dt>Asked by</dt><dd>${requester.subject} <span class="faint">(${from}, as reported)</span>, ${age(brief.askedAt, options.now)}</dd></div>
<div class="${repeating === 'harmless' ? '' : 'risk'}"><dt>Repeating</dt><dd>${REPEAT_RISK_IN_WORDS[repeating]}${
    unverifiable.length === 0
      ? ''
      : html` <span class="risk">No readback for ${unverifiable.join(', ')}: nobody can check it.</span>`
  }</dd></div>
${
  agentsReason === null
    ? ''
    : html`<div class="claim"><dt>The agent's own words</dt><dd><q>${agentsReason}</q> <span class="faint">A claim. Readback has not checked it.</span></dd></div>`
}
</dl>
${brief.voidBecause === null ? '' : voided(brief.voidBecause)}${options.alone && brief.voidBecause === null ? consequences(brief) : ''}
${decisionOf(brief, options)}
</div>`;
}

/** In one sentence, for somebody who was sent here and knows nothing of it. */
const consequences = ({ deviceName, device, changes: asked }: ApprovalBrief): Html =>
  html`<p class="note" id="consequences">Approve, and Readback sends ${asked.map(({ field, desired }) => `${field} ${desired}`).join(', ')} to ${deviceName}${deviceName === device ? '' : ` (${device})`} at once. Decline, and nothing is sent.</p>`;

const voided = (why: string): Html =>
  html`<p class="note">Void: ${why}. A yes would send nothing any more. Decline it, so that whoever asked is told.</p>`;

const changes = (list: ApprovalBrief['changes']): Html => html`<table class="changes">
<thead class="sr"><tr><th scope="col">Field</th><th scope="col">Now</th><th scope="col">Asked</th></tr></thead>
<tbody>${list.map(
  ({ field, before, desired }) =>
    html`<tr><th scope="row">${field}</th><td class="before">${before}</td><td class="after"><span aria-hidden="true">→</span> ${desired}</td></tr>`,
)}</tbody>
</table>`;

/** Nothing for those who may not decide; who asked is told so before they try. */
function decisionOf(brief: ApprovalBrief, { session, alone }: CardOptions): Html | '' {
  if (session === null) return '';
  const { name, subject } = session.person;
  const isAsker = [name, subject ?? name].some((one) => samePerson(one, brief.requester.subject));
  if (brief.by === 'operator' && isAsker)
    return html`<p class="note">You asked for this yourself, so somebody else has to decide it.</p>`;
  return decisionForms(brief, session, alone ? commentField(brief) : '');
}

/** Approving takes one press; declining asks why. */
function decisionForms(
  { commandId, deviceName, voidBecause }: ApprovalBrief,
  { csrf }: Session,
  comment: Html | '',
): Html {
  const reason = `reason-${commandId}`;
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="id" value="${commandId}">`;
  return html`<div class="decide">
${voidBecause === null ? html`<form method="post" action="/decide">${hidden}<input type="hidden" name="decision" value="approve">${comment}<button class="approve" aria-label="Approve ${deviceName}">Approve</button></form>` : ''}
<details class="decline"><summary aria-label="Decline ${deviceName}">Decline…</summary>
<form method="post" action="/decide">${hidden}<input type="hidden" name="decision" value="decline">
<label for="${reason}">Reason, which whoever asked is told</label>
<input id="${reason}" name="comment" required maxlength="500" autocomplete="off"> <button class="stop">Decline</button></form>
</details>
</div>`;
}

/** Enter in it decides nothing: the form's first button is one that can't be pressed. */
const commentField = ({ commandId }: ApprovalBrief): Html => html`<button disabled hidden></button>
<label class="sr" for="comment-${commandId}">Comment, kept with the approval</label>
<input id="comment-${commandId}" name="comment" maxlength="500" autocomplete="off" placeholder="Comment (optional)"> `;
