/** The frame around every page. */
import { html } from 'hono/html';
import { plain } from '../../domain/text.ts';
import type { Session } from '../session.ts';
import type { Html } from './html.ts';

export interface Frame {
  readonly title: string;
  /** null: nobody is signed in. */
  readonly session: Session | null;
  readonly here: 'approvals' | 'commands' | 'elsewhere';
  /** How many approvals wait; null: not told here. */
  readonly pending: number | null;
  /** Where the script hears of changes; null: this page doesn't change. */
  readonly events: string | null;
  /** What this page shows; null with `events`. */
  readonly revision: string | null;
  /** Where the browser goes by itself; null: it stays. */
  readonly goesOnAt: string | null;
  /** What is wrong with the catalogue's files, while an earlier one is in force; null: nothing. */
  readonly catalogueTrouble: readonly string[] | null;
  /** Versions of style and script, so that a browser never mixes old with new. */
  readonly assets: string;
}

export function page(frame: Frame, content: Html): Html {
  const { title, session, here, pending, events, revision, goesOnAt, assets } = frame;
  const link = (path: string, name: string, current: boolean) =>
    html`<a href="${path}" ${current ? html`aria-current="page"` : ''}>${name}</a>`;
  const approvals = pending === null ? 'Approvals' : `Approvals (${pending})`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${goesOnAt === null ? '' : html`<meta http-equiv="refresh" content="0; url=${goesOnAt}">`}
<title>${title} · Readback</title>
<link rel="stylesheet" href="/console.css?v=${assets}">
<link rel="icon" href="/icon.svg?v=${assets}" type="image/svg+xml">
<script src="/console.js?v=${assets}" defer></script>
</head>
<body ${events === null ? '' : html`data-events="${events}" data-revision="${revision}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<span class="brand">Readback</span>
<nav aria-label="Pages">${link('/', approvals, here === 'approvals')}${session?.person.isApprover === false ? '' : link('/commands', 'Commands', here === 'commands')}</nav>
${session === null ? signInLink(here) : whoIsIn(session)}
</header>
<p class="live" id="live" role="status" aria-live="polite"></p>
<main id="main" tabindex="-1">${frame.catalogueTrouble === null ? '' : outdated(frame.catalogueTrouble)}${content}</main>
${keys}
</body>
</html>`;
}

const MOST_PROBLEMS = 20;

/** The first line of a problem says where it is. */
const outdated = (problems: readonly string[]): Html => html`<div class="note" role="alert">
<h2>The catalogue was changed and can't be used</h2>
<p>The one from before is in force until this is mended:</p>
<ul>${problems.slice(0, MOST_PROBLEMS).map((problem) => html`<li>${plain(problem, 300)}</li>`)}</ul>
${problems.length > MOST_PROBLEMS ? html`<p>And ${problems.length - MOST_PROBLEMS} more, in the server's log.</p>` : ''}
</div>`;

const signInLink = (here: Frame['here']): Html =>
  here === 'elsewhere' ? html`` : html`<a href="/sign-in">Sign in</a>`;

const whoIsIn = ({ person, csrf }: Session): Html => html`<form method="post" action="/sign-out" class="who">
<input type="hidden" name="csrf" value="${csrf}">
<span class="name">${person.shownAs}</span> <button class="quiet">Sign out</button>
</form>`;

const keys = html`<dialog id="keys" aria-labelledby="keys-title">
<h2 id="keys-title">Keys</h2>
<dl>
<div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous</dd></div>
<div><dt><kbd>a</kbd> then <kbd>Enter</kbd></dt><dd>approve the marked one</dd></div>
<div><dt><kbd>d</kbd></dt><dd>decline it: say why, then <kbd>Enter</kbd></dd></div>
<div><dt><kbd>x</kbd></dt><dd>select it for deciding several at once</dd></div>
<div><dt><kbd>o</kbd></dt><dd>open it</dd></div>
<div><dt><kbd>Esc</kbd></dt><dd>leave a field or this list</dd></div>
<div><dt><kbd>?</kbd></dt><dd>this list</dd></div>
</dl>
<form method="dialog"><button>Close</button></form>
</dialog>`;
