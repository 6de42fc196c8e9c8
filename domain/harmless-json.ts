/** JSON for a file that somebody may look at in a terminal. */

/**
 * `value` as JSON in one line. Control, formatting and bidi characters of strangers' texts are written as escapes, so the
 * line reads back as exactly what it was made of and can't act on whoever displays it.
 */
export const harmlessJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped);

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
