/** Which page answers which address, and to whom. */
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { EngineUnreachable } from '../commands/commands.ts';
import { approvalBrief } from '../domain/approval/brief.ts';
import type { Standing } from './access.ts';
import type { ConsoleContext } from './context.ts';
import { revisionOf } from './followed-commands.ts';
import { approvalsPage } from './pages/approvals-page.ts';
import { commandPage, commandTitle } from './pages/command-page.ts';
import { commandsPage } from './pages/commands-page.ts';
import type { Html } from './pages/html.ts';
import { type Frame, page } from './pages/layout.ts';
import { messagePage, noApproversPage } from './pages/sign-in-page.ts';
import type { Session } from './session.ts';

type Status = 200 | 400 | 401 | 403 | 404 | 429 | 500 | 503;

/** A page in its frame. What isn't said about the frame is absent. */
export async function show(
  c: Context,
  { assets }: ConsoleContext,
  frame: Pick<Frame, 'title' | 'here'> & Partial<Frame>,
  content: Html,
  status: Status = 200,
): Promise<Response> {
  const whole = { session: null, pending: null, events: null, revision: null, assets, ...frame };
  return await c.html(page(whole, content), status);
}

export function addPages(console: Hono, context: ConsoleContext): void {
  const { access, commands, overview, catalogue, temporalUi } = context;

  console.get('/', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
    const { pending, totalPending, revision } = await overview.read();
    const briefs = pending.flatMap((snapshot) => approvalBrief(catalogue(), snapshot) ?? []);
    const content = approvalsPage({
      briefs,
      total: totalPending,
      sort: c.req.query('sort') === 'risk' ? 'risk' : 'deadline',
      page: Number(c.req.query('page') ?? 1) || 1,
      session: sessionOf(standing),
      now: Date.now(),
    });
    const hint = standing.kind === 'reader' ? noApproversPage({ mayRead: true }) : '';
    const frame = { title: 'Approvals', here: 'approvals', events: '/events', revision } as const;
    return show(
      c,
      context,
      { ...frame, session: sessionOf(standing), pending: totalPending },
      html`${hint}${content}`,
    );
  });

  console.get('/commands', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
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
    const session = sessionOf(standing);
    const commandId = c.req.param('id');
    const [snapshot, timeline] = await Promise.all([
      commands.get(commandId, { kind: 'operator' }),
      commands.timeline(commandId, { kind: 'operator' }),
    ]);
    if (snapshot === undefined || timeline === undefined)
      return show(c, context, { title: 'No such command', here: 'commands', session }, noSuchCommand, 404);
    const content = commandPage({
      snapshot,
      timeline,
      brief: snapshot.status === 'running' ? approvalBrief(catalogue(), snapshot) : null,
      workflowUrl: temporalUi === null ? null : workflowUrl(temporalUi, commandId),
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
  });
}

export const sessionOf = (standing: Standing): Session | null =>
  standing.kind === 'approver' ? standing.session : null;

/** To the sign-in, where there is anybody who could. */
export function turnAway(
  c: Context,
  context: ConsoleContext,
  { anyApprovers }: Extract<Standing, { kind: 'stranger' }>,
): Response | Promise<Response> {
  if (!anyApprovers)
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
