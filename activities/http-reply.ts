/** Turns the bytes of an HTTP reply into a reply as the rest of Readback sees it, and names what is wrong with it. */
import type { DeviceReply } from '../domain/exchange.ts';
import type { Json } from '../domain/values.ts';
import type { HttpAnswer } from './http-request.ts';
import type { Hiding } from './sign-in/hiding.ts';

type HttpReply = Extract<HttpAnswer, { kind: 'reply' }>;

type Hider = Pick<Hiding, 'text' | 'source' | 'json'>;

export interface DecodedReply {
  readonly reply: DeviceReply;
  /**
   * Why this reply can't be taken at its word, e.g. `its body is a web page`. A 2xx with a flaw is no acknowledgement:
   * a hotel's login page answers 200 to everything.
   */
  readonly flaw: string | null;
}

/** `hiding`: what keeps secrets out of it. */
export function decodeReply(answer: HttpReply, hiding: Hider): DecodedReply {
  const contentType = answer.headers['content-type'] ?? '';
  const encoding = answer.headers['content-encoding'];
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, hiding.text(value)]),
  );
  const reply = (body: Json): DeviceReply => ({ status: answer.status, headers, body });
  if (encoding !== undefined && encoding !== 'identity') {
    return {
      reply: reply(null),
      flaw: `its body is compressed (${hiding.text(encoding)}), which was not asked for`,
    };
  }
  const text = hiding.source(decodeText(answer.body, contentType));
  if (answer.cut !== null) return { reply: reply(hiding.text(text)), flaw: answer.cut };
  if (text.trim() === '') return { reply: reply(null), flaw: null };
  const parsed = parseJson(text);
  // JSON has other spellings of the same text (\\/, \\u0073): hidden again in what they mean.
  if (parsed !== undefined) return { reply: reply(hiding.json(parsed)), flaw: null };
  return { reply: reply(hiding.text(text)), flaw: flawOfText(text, contentType) };
}

function flawOfText(text: string, contentType: string): string | null {
  if (/^text\/html\b/i.test(contentType) || /^\s*<(!doctype\s+html|html)\b/i.test(text)) {
    return 'its body is a web page: perhaps a login page or a proxy answered, not the device';
  }
  return /\bjson\b/i.test(contentType)
    ? 'its body says that it is JSON, but it is broken off or malformed'
    : null;
}

function parseJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Far deeper than any device nests; what walks a reply must not run out of stack for it. */
const DEEPEST_NESTING = 200;

/** Counts brackets in texts as well: a reply that is refused for that is none that a device sends. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

function decodeText(body: Uint8Array, contentType: string): string {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
