/** What a message on a device's topic says, as the rest of Readback sees replies. */
import type { DeviceReply } from '../domain/exchange.ts';
import type { Json } from '../domain/values.ts';
import type { Message } from './mqtt-session.ts';
import type { Hiding } from './sign-in/hiding.ts';

/** Status 200, since it is there; `headers.retained` is `true` or `false`. JSON where it is JSON, else text; null where it is empty. */
export function decodeMessage(
  topic: string,
  payload: Buffer,
  retained: boolean,
  hiding: Hiding,
): DeviceReply {
  return { status: 200, headers: { topic, retained: String(retained) }, body: hiding.json(bodyOf(payload)) };
}

/** An availability topic holds `offline` or `{"state": "offline"}`. Anything else, or nothing, doesn't say so. */
export function saysOffline(message: Message | null): boolean {
  if (message?.payload == null) return false;
  const body = bodyOf(message.payload);
  const state =
    typeof body === 'object' && body !== null && 'state' in body && !Array.isArray(body) ? body.state : body;
  return typeof state === 'string' && state.toLowerCase() === 'offline';
}

function bodyOf(payload: Buffer): Json {
  const text = new TextDecoder().decode(payload);
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
