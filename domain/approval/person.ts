/** Are these two names of one person? People tell each other apart by more than capitals. */
export const samePerson = (a: string, b: string): boolean => spelled(a) === spelled(b);

const spelled = (name: string): string => name.normalize('NFC').trim().toLowerCase();
