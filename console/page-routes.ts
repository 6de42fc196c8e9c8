/** Which page answers which address, and to whom. */
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { EngineUnreachable } from '../commands/commands.ts';
import { approvalBrief } from '../domain/approval/brief.ts';
import { type Standing, sessionOf } from './access.ts';
import type { ConsoleContext } from './context.ts';
import { revisionOf } from './followed-commands.ts';
import { approvalsPage, onlyYourOwn } from './pages/approvals-page.ts';
import { commandPage, commandTitle } from './pages/command-page.ts';
import { commandsPage } from './pages/commands-page.ts';
import type { Html } from './pages/html.ts';
import { type Frame, page } from './pages/layout.ts';
import { messagePage, noApproversPage } from './pages/sign-in-page.ts';
import { commandFor, ownPending } from './person.ts';
import type { Session } from './session.ts';

type Status = 200 | 400 | 401 | 403 | 404 | 429 | 500 | 503;

/** A page in its frame. What isn't said about the frame is absent. */
export async function show(
  c: Context,
  { assets, catalogueTrouble }: ConsoleContext,
  frame: Pick<Frame, 'title' | 'here'> & Partial<Frame>,
  content: Html,
  status: Status = 200,
): Promise<Response> {
  const whole = {
    session: null,
    pending: null,
    events: null,
    revision: null,
    goesOnAt: null,
    // Whoever sees nothing else is not told of devices either.
    catalogueTrouble: frame.here === 'elsewhere' ? null : catalogueTrouble(),
    assets,
    ...frame,
  };
  return await c.html(page(whole, content), status);
}

export function addPages(console: Hono, context: ConsoleContext): void {
  const { access, overview, catalogue } = context;

  console.get('/', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
    if (standing.kind === 'requester') return await showOwn(c, context, standing.session);
    const { pending, totalPending, revision } = await overview.read();
    const briefs = pending.flatMap((snapshot) => approvalBrief(catalogue(), snapshot) ?? []);
    const session = sessionOf(standing);
    const content = approvalsPage({
      briefs,
      total: totalPending,
      ...queueAsked(c),
      session,
      now: Date.now(),
    });
    const hint = standing.kind === 'reader' ? noApproversPage({ mayRead: true }) : '';
    const frame = { title: 'Approvals', here: 'approvals', events: '/events', revision } as const;
    return show(c, context, { ...frame, session, pending: totalPending }, html`${hint}${content}`);
  });

  console.get('/commands', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
    if (standing.kind === 'requester') return c.redirect('/', 303);
    const { open, recent, totalPending, revision } = await overview.read();
    const frame = { title: 'Commands', here: 'commands', events: '/events', revision } as const;
    return show(
      c,
      context,
      { ...frame, session: sessionOf(standing), pending: totalPending },
      commandsPage({ open, recent }, Date.now()),
    );
  });

  console.get('/commands/:id', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
    return await showCommand(c, context, c.req.param('id'), sessionOf(standing));
  });
}

/** For somebody who is no approver: what they have to decide themselves. */
async function showOwn(c: Context, context: ConsoleContext, session: Session): Promise<Response> {
  const { commands, catalogue } = context;
  const pending = await ownPending(session.person, commands);
  const briefs = pending.flatMap((snapshot) => approvalBrief(catalogue(), snapshot) ?? []);
  const content = approvalsPage({ briefs, total: briefs.length, ...queueAsked(c), session, now: Date.now() });
  const frame = { title: 'Approvals', here: 'approvals', session, pending: briefs.length } as const;
  return show(c, context, frame, html`${onlyYourOwn(session.person)}${content}`);
}

async function showCommand(
  c: Context,
  context: ConsoleContext,
  commandId: string,
  session: Session | null,
): Promise<Response> {
  const { commands, catalogue, temporalUi } = context;
  const person = session?.person ?? null;
  const snapshot = await commandFor(person, commandId, commands);
  const timeline = snapshot && (await commands.timeline(commandId, { kind: 'operator' }));
  if (snapshot === undefined || timeline === undefined)
    return show(c, context, { title: 'No such command', here: 'commands', session }, noSuchCommand, 404);
  const seesTemporal = person === null || person.isApprover;
  const content = commandPage({
    snapshot,
    timeline,
    brief: snapshot.status === 'running' ? approvalBrief(catalogue(), snapshot) : null,
    workflowUrl: temporalUi === null || !seesTemporal ? null : workflowUrl(temporalUi, commandId),
    session,
    now: Date.now(),
  });
  const events = snapshot.status === 'running' ? `/events?command=${encodeURIComponent(commandId)}` : null;
  const revision = revisionOf(snapshot);
  return show(
    c,
    context,
    { title: commandTitle(snapshot), here: 'commands', session, events, revision },
    content,
  );
}

const queueAsked = (c: Context) =>
  ({
    sort: c.req.query('sort') === 'risk' ? 'risk' : 'deadline',
    page: Number(c.req.query('page') ?? 1) || 1,
  }) as const;

/** To the sign-in, where there is anybody who could. */
export function turnAway(
  c: Context,
  context: ConsoleContext,
  { canSignIn }: Extract<Standing, { kind: 'stranger' }>,
): Response | Promise<Response> {
  if (!canSignIn)
    return show(c, context, { title: 'Approvals', here: 'elsewhere' }, noApproversPage({ mayRead: false }));
  const { pathname, search } = new URL(c.req.url);
  return c.redirect(`/sign-in?to=${encodeURIComponent(`${pathname}${search}`)}`, 303);
}

export function errorPage(error: Error, c: Context, context: ConsoleContext): Response | Promise<Response> {
  const api = c.req.path.startsWith('/api/');
  if (error instanceof EngineUnreachable)
    return api
      ? c.json({ error: error.message }, 503)
      : show(c, context, { title: 'Temporal is away', here: 'elsewhere' }, away(error), 503);
  context.onError(error);
  const text = 'Readback failed at this request; its log says why.';
  return api
    ? c.json({ error: text }, 500)
    : show(c, context, { title: 'Failed', here: 'elsewhere' }, messagePage('Failed', text), 500);
}

const away = ({ message }: Error): Html => messagePage('Temporal is away', message);

const noSuchCommand = messagePage(
  'No such command',
  'There is no command of this id, or it ended longer ago than Temporal keeps it.',
);

const workflowUrl = ({ url, namespace }: { url: string; namespace: string }, commandId: string): string =>
  `${url.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(commandId)}`;
