/** The forms that decide: one approval or several, without any script. */
import type { Context, Hono } from 'hono';
import { InputError } from '../commands/commands.ts';
import { decideEach } from '../commands/decide-each.ts';
import type { ConsoleContext } from './context.ts';
import { isFromElsewhere } from './headers.ts';
import { show, turnAway } from './page-routes.ts';
import { decidedPage } from './pages/decided-page.ts';
import { messagePage } from './pages/sign-in-page.ts';
import { deciderOf, viewerOf } from './person.ts';

/** The words of forms and API, and what they decide. */
export const DECISIONS = { approve: 'approved', decline: 'declined' } as const;

export const isDecision = (word: unknown): word is keyof typeof DECISIONS =>
  typeof word === 'string' && Object.hasOwn(DECISIONS, word);

export function addDecide(console: Hono, context: ConsoleContext): void {
  const { access, sessions, commands } = context;

  console.post('/decide', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return turnAway(c, context, standing);
    if (standing.kind === 'reader') return refuse(c, 'Nobody is signed in, so nothing was decided.', 403);
    const { session } = standing;
    const form = new URLSearchParams(await c.req.text());
    if (isFromElsewhere(c) || !sessions.csrfMatches(session, form.get('csrf') ?? undefined))
      return refuse(
        c,
        'This form was out of date or not from this page. Go back, reload, and decide again.',
        403,
      );
    const word = form.get('decision');
    if (!isDecision(word)) return refuse(c, 'A decision is to approve or to decline.', 400);
    const ids = form.getAll('id').filter((id) => id !== '');
    if (ids.length === 0) return refuse(c, 'Nothing was selected.', 400);
    const comment = form.get('comment');
    if (word === 'decline' && (comment ?? '').trim() === '')
      return refuse(c, 'A decline needs a reason, so that whoever asked can be told.', 400);
    try {
      const results = await decideEach(
        commands,
        ids,
        {
          decision: DECISIONS[word],
          ...deciderOf(session.person),
          comment,
        },
        viewerOf(session.person),
      );
      const names = await deviceNames(results.filter(({ result }) => result.kind !== 'unknown'));
      return await show(
        c,
        context,
        { title: 'Decided', here: 'elsewhere', session },
        decidedPage(results, names),
      );
    } catch (error) {
      if (error instanceof InputError) return refuse(c, error.message, 400);
      throw error;
    }
  });

  const deviceNames = async (decided: readonly { readonly commandId: string }[]) => {
    const found = await Promise.all(
      decided.map(({ commandId }) => commands.get(commandId, { kind: 'operator' }).catch(() => undefined)),
    );
    return new Map(
      found.flatMap((snapshot) => (snapshot ? [[snapshot.commandId, snapshot.view.deviceName]] : [])),
    );
  };

  const refuse = (c: Context, why: string, status: 400 | 403) =>
    show(
      c,
      context,
      { title: 'Not decided', here: 'elsewhere' },
      messagePage('Nothing was decided', why),
      status,
    );
}
