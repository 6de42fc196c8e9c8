/** Keeps secrets out of what comes from outside: APIs like to quote a bad token, and locks list their codes. */
import { HIDDEN } from '../../domain/body.ts';
import type { Json } from '../../domain/values.ts';

/** Shorter texts are found in replies by chance. What signs us in is not hidden then: hiding it would change readings. */
const SHORTEST_FOUND_ANYWHERE = 6;
/** Tokens come and go; an old one is of no use to anybody. */
const MOST_TOKENS = 50;

export interface Hiding {
  /** What was got by signing in, by whomever: a token, or a row of cookies. The oldest of many is forgotten. */
  add(token: string): void;
  /** A text that is shown. */
  text(text: string): string;
  /** A text that is yet to be parsed: nothing is hidden in it that may be a part of something else. */
  source(text: string): string;
  /** A parsed reply: names, texts, and numbers that are a secret. */
  json(value: Json): Json;
}

/** `signIn`: what signs us in. `ofBodies`: the connection's `secrets`; short ones, such as PINs, are hidden where they stand alone. */
export function createHiding(signIn: readonly string[], ofBodies: readonly string[] = []): Hiding {
  const given = both(formsOf(signIn, SHORTEST_FOUND_ANYWHERE), formsOf(ofBodies, 1));
  let tokens: readonly string[] = [];
  let forms = given;

  const anywhere = (text: string): string =>
    forms.anywhere.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
  const hiding: Hiding = {
    add(token) {
      if (tokens.includes(token)) return;
      tokens = [...tokens, token].slice(-MOST_TOKENS);
      forms = both(given, formsOf(tokens.flatMap(withCookies), SHORTEST_FOUND_ANYWHERE));
    },
    text: (text) =>
      forms.alone.reduce((shown, secret) => shown.replace(standingAlone(secret), HIDDEN), anywhere(text)),
    source: anywhere,
    json(value) {
      if (typeof value === 'string') return hiding.text(value);
      if (typeof value === 'number') return forms.alone.includes(String(value)) ? HIDDEN : value;
      if (Array.isArray(value)) return value.map((item: Json) => hiding.json(item));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [hiding.text(key), hiding.json(member)]),
      );
    },
  };
  return hiding;
}

const withCookies = (token: string): readonly string[] => [
  token,
  ...token.split('; ').map((pair) => pair.slice(pair.indexOf('=') + 1)),
];

interface Forms {
  readonly anywhere: readonly string[];
  readonly alone: readonly string[];
}

const both = (one: Forms, other: Forms): Forms => ({
  anywhere: [...one.anywhere, ...other.anywhere],
  alone: [...one.alone, ...other.alone],
});

/** Each secret as it is, and as it looks in a query, in JSON and in base64. Longest first, so that none is hidden in part. */
function formsOf(secrets: readonly string[], shortest: number): Forms {
  const forms = secrets
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ])
    .filter((form) => form.length >= shortest)
    .sort((one, other) => other.length - one.length);
  // Digits are a part of many a number, and of every time in milliseconds.
  const isSafe = (form: string): boolean => form.length >= SHORTEST_FOUND_ANYWHERE && !/^[\d.]+$/.test(form);
  return {
    anywhere: forms.filter(isSafe),
    alone: forms.filter((form) => !isSafe(form)),
  };
}

const standingAlone = (secret: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'gu');
