/**
 * What a client carries from a question to its answer (multi-round-trip requests of 2026-07-28): signed, bound to who
 * asks and to the very call, and limited in time. It can be read on the way, so nothing secret is in it.
 */
import { randomBytes } from 'node:crypto';
import {
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { digestOf } from '../domain/catalogue/digest.ts';

/** The call that a state belongs to; it is void with any other. */
export interface CallOfState {
  readonly principal: string;
  readonly tool: string;
  readonly args: unknown;
}

interface Carried {
  /** Of the question. */
  readonly key: string;
  readonly state: unknown;
  /** Makes every state unlike all others. */
  readonly nonce: string;
}

export interface RequestStates {
  /** `expiresAt`: epoch ms, rounded up to a second. */
  seal(
    carried: { readonly key: string; readonly state: unknown; readonly expiresAt: number },
    call: CallOfState,
    ctx: ServerContext,
  ): Promise<string>;
  /** Throws `invalidRequestState` for one that was changed, used with another call or by another user, or is too old. */
  open(text: string, call: CallOfState, ctx: ServerContext): Promise<Pick<Carried, 'key' | 'state'>>;
}

export function requestStates(key: Uint8Array): RequestStates {
  const codec = (call: CallOfState, ttlMs: number) =>
    createRequestStateCodec<Carried>({
      key,
      ttlSeconds: Math.max(1, Math.ceil(ttlMs / 1000)),
      bind: () => digestOf(call),
    });
  return {
    async seal({ key, state, expiresAt }, call, ctx) {
      const nonce = randomBytes(16).toString('base64url');
      return await codec(call, expiresAt - Date.now()).mint({ key, state, nonce }, ctx);
    },
    async open(text, call, ctx) {
      try {
        // The time to live is inside; this one is for sealing only.
        return await codec(call, 0).verify(text, ctx);
      } catch {
        throw invalidRequestState();
      }
    },
  };
}

/** One and the same whatever is wrong with it: forged, another's, too old, or answered already. */
export function invalidRequestState(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Invalid or expired requestState: nothing was decided by this answer. Call the tool again without it to be asked again.',
    { reason: 'invalid_request_state' },
  );
}
