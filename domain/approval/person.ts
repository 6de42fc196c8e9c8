/** Are these two names of one person? People tell each other apart by more than capitals. */
export const samePerson = (a: string, b: string): boolean => spelled(a) === spelled(b);

/** Variation selectors, joiners, fillers, the blank of braille: two names that differ only by these look the same. */
export const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

const spelled = (name: string): string => name.normalize('NFKC').replace(INVISIBLE, '').trim().toLowerCase();
