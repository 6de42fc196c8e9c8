/** Are these two names of one person? People tell each other apart by more than capitals. */
export const samePerson = (a: string, b: string): boolean => spelled(a) === spelled(b);

/** Variation selectors, joiners, fillers, the blank of braille: two names that differ only by these look the same. */
export const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

const spelled = (name: string): string => name.normalize('NFKC').replace(INVISIBLE, '').trim().toLowerCase();

/**
 * Whom an issuer of sign-ins means, in one word: owner of commands, and who decided. An issuer's URL has no fragment, so
 * no two of them give one word. Case counts.
 */
export const subjectAt = (issuer: string, subject: string): string => `${issuer}#${subject}`;

/** Somebody of whom this issuer can say that they are at the browser. */
export const isSubjectAt = (issuer: string, word: string): boolean => word.startsWith(subjectAt(issuer, ''));
