/** Names that strangers gave, as a catalogue may hold them. */
import { deviceId } from '../catalogue/shapes.ts';
import { plain } from '../text.ts';

/** What a catalogue takes of a name; also keeps names of one run apart from each other. */
const LONGEST_NAME = 64;
const LONGEST_ID = 48;

/** One line without control characters, and nothing that a catalogue would fill in. null: nothing is left. */
export function harmless(text: unknown, longest = LONGEST_NAME): string | null {
  if (typeof text !== 'string') return null;
  const clean = plain(text.slice(0, 1000), longest).replaceAll('${', '$ {');
  return clean === '' ? null : clean.slice(0, longest);
}

/** Texts that a catalogue can hold exactly as they are: what is sent and compared must not be made harmless, only left out. */
export const isHarmless = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && harmless(text) === text;

/** `Küche/Fan (left)` → `kuche-fan-left`; null: nothing in it can be in an id. */
export function idFrom(...texts: readonly string[]): string | null {
  const id = texts
    .join('-')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, LONGEST_ID)
    .replace(/-+$/, '');
  return deviceId.safeParse(id).success ? id : null;
}

/**
 * An id for each of `wanted` (the best first), none of them in `taken` (in lower case). Where several want the same, none of
 * them gets it, so that an id doesn't depend on who came first.
 */
export function assignIds(
  wanted: readonly (readonly string[])[],
  taken: ReadonlySet<string>,
): readonly string[] {
  const asked = new Map<string, number>();
  for (const [best = ''] of wanted) asked.set(best, (asked.get(best) ?? 0) + 1);
  const used = new Set(taken);
  return wanted.map((ids) => {
    const candidates = (asked.get(ids[0] ?? '') ?? 0) > 1 && ids.length > 1 ? ids.slice(1) : ids;
    const last = candidates.at(-1) ?? 'device';
    let id = candidates.find((candidate) => !used.has(candidate)) ?? last;
    for (let number = 2; used.has(id); number += 1) id = `${last}-${number}`;
    used.add(id);
    return id;
  });
}
