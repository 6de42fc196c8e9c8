/** The ways in, and what there is to say of them. */
import { html } from 'hono/html';
import type { Html } from './html.ts';

export interface WaysIn {
  readonly problem: string | null;
  /** Where to go afterwards. */
  readonly to: string;
  /** Where people sign in; null: nowhere. */
  readonly issuer: string | null;
  /** There are approvers with secrets. */
  readonly bySecret: boolean;
}

export function signInPage({ problem, to, issuer, bySecret }: WaysIn): Html {
  return html`<div class="narrow">
<h1>Sign in</h1>
${problem === null ? '' : html`<p class="problem" role="alert" id="problem">${problem}</p>`}
${issuer === null ? '' : html`<p><a class="button" id="issuer" href="/sign-in/issuer?to=${encodeURIComponent(to)}">Sign in at ${new URL(issuer).host}</a></p>`}
${bySecret || issuer === null ? secretForm(problem, to, issuer === null) : ''}
</div>`;
}

/** Where it is the only way in, it can be typed into at once. */
function secretForm(problem: string | null, to: string, isOnlyWay: boolean): Html {
  return html`<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<label for="secret">Your secret</label>
<input id="secret" name="secret" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false" required maxlength="200" ${isOnlyWay ? 'autofocus' : ''} ${problem === null ? '' : html`aria-describedby="problem"`}>
<button class="approve">Sign in</button>
</form>
<p class="faint">It was shown once, when you were added as an approver. Lost it? Whoever runs Readback can remove you and add you again.</p>`;
}

export const signInFailedPage = (why: string): Html => html`<div class="narrow"><h1>Not signed in</h1>
<p class="problem" role="alert">${why}</p><p><a class="button" href="/sign-in">Back to signing in</a></p></div>`;

/** Whoever sits down here next must not be signed in by one press. */
export const signedOutPage = ({ href, host }: URL): Html => html`<div class="narrow"><h1>Signed out</h1>
<p>You are signed out here, and now at ${host} as well. <a id="issuer" href="${href}">Go on there</a> if nothing happens.</p></div>`;

/** There is nobody who could sign in. */
export function noApproversPage({ mayRead }: { mayRead: boolean }): Html {
  return html`<div class="note">
<h2>Nobody can decide yet</h2>
<p>There are no approvers. Add one on the machine that runs Readback, in the folder where it was started, and sign in here with the secret that it shows:</p>
<pre>npx readback approvers add "Your name"</pre>
<p>${
    mayRead
      ? html`Until then this page only shows. What needs an approval waits, and expires if nobody decides it; nothing is sent without one.`
      : html`Until then this page shows nothing, because it can be reached from other machines.`
  }</p>
</div>`;
}

export const messagePage = (title: string, text: string): Html =>
  html`<div class="narrow"><h1>${title}</h1><p>${text}</p><p><a class="button" href="/">Back to the approvals</a></p></div>`;
