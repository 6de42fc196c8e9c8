/** The console over JSON, for scripts: a session's cookie, or `Authorization: Bearer` with an approver's secret. */
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { InputError } from '../commands/commands.ts';
import { decideEach, decisionAsJson, MOST_DECISIONS } from '../commands/decide-each.ts';
import { approvalBrief } from '../domain/approval/brief.ts';
import type { ConsoleContext } from './context.ts';
import { DECISIONS } from './decide.ts';
import { isFromElsewhere } from './headers.ts';
import { deciderOf, type Person, personOf } from './person.ts';

const DECIDE = z
  .strictObject({
    ids: z.array(z.string().min(1).max(200)).min(1).max(MOST_DECISIONS),
    decision: z.enum(['approve', 'decline']),
    comment: z.string().max(500).default(''),
  })
  .refine(({ decision, comment }) => decision === 'approve' || comment.trim() !== '', {
    message: 'a decline needs its reason, so that whoever asked can be told',
    path: ['comment'],
  });
const PAGE = z.coerce.number().int().min(1).max(200).default(100);

export function addApi(console: Hono, context: ConsoleContext): void {
  const { commands, catalogue } = context;

  console.get('/api/pending', async (c) => {
    const who = authenticate(c, context);
    if (who instanceof Response) return who;
    const limit = PAGE.safeParse(c.req.query('limit'));
    if (!limit.success) return problem(c, 400, 'limit is a whole number from 1 to 200.');
    const cursor = c.req.query('cursor');
    try {
      const { items, total, cursor: next } = await commands.pendingApprovals({ limit: limit.data, cursor });
      const approvals = items.flatMap((snapshot) => approvalBrief(catalogue(), snapshot) ?? []);
      return c.json({ approvals, total, cursor: next });
    } catch (error) {
      return inputProblem(c, error);
    }
  });

  console.get('/api/commands/:id', async (c) => {
    const who = authenticate(c, context);
    if (who instanceof Response) return who;
    const commandId = c.req.param('id');
    const snapshot = await commands.get(commandId, { kind: 'operator' });
    const timeline = await commands.timeline(commandId, { kind: 'operator' });
    if (snapshot === undefined || timeline === undefined)
      return problem(c, 404, 'There is no such command, or it ended longer ago than Temporal keeps it.');
    return c.json({ ...snapshot, timeline });
  });

  console.post('/api/decide', async (c) => {
    const who = authenticate(c, context);
    if (who instanceof Response) return who;
    if (c.req.header('content-type')?.split(';')[0]?.trim() !== 'application/json')
      return problem(c, 415, 'Send JSON, with Content-Type: application/json.');
    const body = DECIDE.safeParse(await c.req.json().catch(() => null));
    if (!body.success) return problem(c, 400, `Nothing was decided. ${z.prettifyError(body.error)}`);
    const { ids, decision, comment } = body.data;
    const results = await decideEach(commands, ids, {
      decision: DECISIONS[decision],
      ...deciderOf(who),
      comment,
    });
    return c.json({
      results: results.map(decisionAsJson),
    });
  });
}

/** The approver, or the answer that says why there is none. */
function authenticate(c: Context, { access, sessions }: ConsoleContext): Person | Response {
  const authorization = c.req.header('authorization');
  if (authorization !== undefined) {
    const [scheme = '', secret = ''] = authorization.split(' ');
    const identified = access.identify(c, scheme.toLowerCase() === 'bearer' ? secret : '');
    if (identified.kind === 'approver') return personOf(identified.approver);
    if (identified.kind === 'nobody') return problem(c, 401, "This is no approver's secret.");
    c.header('Retry-After', String(identified.seconds));
    return problem(c, 429, `Too many wrong secrets. Try again in ${identified.seconds} s.`);
  }
  const standing = access.standing(c);
  if (standing.kind === 'requester')
    return problem(c, 403, 'This is for approvers. Decide your own approvals on their pages.');
  if (standing.kind !== 'approver') {
    c.header('WWW-Authenticate', 'Bearer');
    return problem(c, 401, "Sign in, or send Authorization: Bearer with an approver's secret.");
  }
  const { session } = standing;
  const changes = c.req.method !== 'GET';
  if (changes && (isFromElsewhere(c) || !sessions.csrfMatches(session, c.req.header('x-readback-csrf'))))
    return problem(
      c,
      403,
      "With a session, send X-Readback-Csrf as in the page's forms. Nothing was decided.",
    );
  return session.person;
}

const problem = (c: Context, status: 400 | 401 | 403 | 404 | 415 | 429, error: string): Response =>
  c.json({ error }, status);

function inputProblem(c: Context, error: unknown): Response {
  if (error instanceof InputError) return problem(c, 400, error.message);
  throw error;
}
