/** Values inside visibility queries. */

/** With its quotes, which no value can end. */
export const quotedInQuery = (text: string): string =>
  `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`;
