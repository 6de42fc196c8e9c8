/** The queue: what waits for a person. */
import { html } from 'hono/html';
import { type ApprovalBrief, byDeadline, byRisk } from '../../domain/approval/brief.ts';
import type { Person } from '../person.ts';
import type { Session } from '../session.ts';
import { approvalCard } from './approval-card.ts';
import type { Html } from './html.ts';

export interface Queue {
  readonly briefs: readonly ApprovalBrief[];
  /** Of all that are pending. */
  readonly total: number;
  readonly sort: 'deadline' | 'risk';
  /** From 1. */
  readonly page: number;
  readonly session: Session | null;
  readonly now: number;
}

/** As many as one can look through without losing one's place. */
const ON_A_PAGE = 50;

/** For somebody who is signed in and no approver. */
export const onlyYourOwn = ({ shownAs, subject }: Person): Html =>
  html`<p class="note">You are signed in as ${shownAs} (<code>${subject}</code>). This page shows what your own commands ask you, and nothing else: approvals of others, and what an operator has to decide, are for approvers.</p>`;

export function approvalsPage({ briefs, total, sort, page, session, now }: Queue): Html {
  const sorted = [...briefs].sort(sort === 'risk' ? byRisk : byDeadline);
  const pages = Math.max(1, Math.ceil(sorted.length / ON_A_PAGE));
  const shownPage = Math.min(Math.max(1, page), pages);
  const shown = sorted.slice((shownPage - 1) * ON_A_PAGE, shownPage * ON_A_PAGE);
  return html`<div class="title"><h1>${session?.person.isApprover === false ? 'What you are asked' : 'Approvals'}</h1>
<span class="keys-hint script-only">Press <kbd>?</kbd> for keys</span>
${briefs.length > 1 ? sorting(sort) : ''}</div>
${total > briefs.length ? html`<p class="note">${total} approvals wait. These are the newest ${briefs.length}; older ones show as these are decided.</p>` : ''}
${
  shown.length === 0
    ? html`<p class="empty">Nothing waits for a decision.</p><ul class="cards" id="cards"></ul>`
    : html`<ul class="cards" id="cards">${shown.map((brief) => approvalCard(brief, { now, session }))}</ul>
${pages > 1 ? pager(shownPage, pages, sort) : ''}
${session === null ? '' : several(session)}`
}`;
}

const sorting = (sort: Queue['sort']): Html => html`<p class="sorting">Sorted by
${sort === 'deadline' ? html`<b>deadline</b>` : html`<a href="/?sort=deadline">deadline</a>`} ·
${sort === 'risk' ? html`<b>risk</b>` : html`<a href="/?sort=risk">risk</a>`}</p>`;

const pager = (
  page: number,
  pages: number,
  sort: Queue['sort'],
): Html => html`<nav class="pager" aria-label="Pages of the list">
${page > 1 ? html`<a rel="prev" href="/?sort=${sort}&page=${page - 1}">Earlier</a>` : ''}
<span>Page ${page} of ${pages}</span>
${page < pages ? html`<a rel="next" href="/?sort=${sort}&page=${page + 1}">Later</a>` : ''}
</nav>`;

/** Enter in the field does nothing: the first button is one that can't be pressed. */
const several = ({
  csrf,
}: Session): Html => html`<form class="several" id="several" method="post" action="/decide">
<input type="hidden" name="csrf" value="${csrf}">
<button disabled hidden></button>
<label class="all script-only"><input type="checkbox" id="select-all"> All on this page</label>
<span id="selected">Selected ones:</span>
<label for="several-comment" class="sr">Comment; to decline, the reason</label>
<input id="several-comment" name="comment" maxlength="500" placeholder="Comment (to decline: the reason)" autocomplete="off">
<button class="approve" name="decision" value="approve">Approve selected</button>
<button class="stop" name="decision" value="decline">Decline selected</button>
</form>`;
