/** All commands that wait for a person: Temporal doesn't know which of them expires first, so whoever sorts them needs all. */
import type { CommandSnapshot, Commands } from './commands.ts';

const PAGE = 200;

/** Reads no more than about `most` of them; `total` counts those beyond as well. Throws `EngineUnreachable`. */
export async function allPending(
  commands: Pick<Commands, 'pendingApprovals'>,
  most: number,
): Promise<{ readonly pending: readonly CommandSnapshot[]; readonly total: number }> {
  const pending: CommandSnapshot[] = [];
  let cursor: string | null | undefined;
  let total = 0;
  do {
    const page = await commands.pendingApprovals({ limit: PAGE, ...(cursor == null ? {} : { cursor }) });
    pending.push(...page.items);
    ({ total, cursor } = page);
  } while (cursor !== null && pending.length < most);
  return { pending, total: Math.max(total, pending.length) };
}
