/** The webhook of the catalogue's settings, signed as Standard Webhooks has it (https://www.standardwebhooks.com). */
import { createHmac } from 'node:crypto';
import type { Ring } from '../domain/approval/ring.ts';
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import { webhookSecret } from '../domain/catalogue/webhook.ts';
import { type Exchanged, openHttpConnection } from './http-connection.ts';

export interface Webhook {
  /** One attempt; no redirect is followed. Never rejects. */
  deliver(ring: Ring): Promise<Delivery>;
}

export type Delivery =
  | { readonly taken: true }
  | {
      readonly taken: false;
      /** Names the connection and what happened, without secrets. */
      readonly why: string;
      /** false: the receiver has said that it is gone. */
      readonly again: boolean;
      /** The pause that the receiver, or the connection's limits, ask for. */
      readonly retryAfterMs: number | null;
    };

/** The scheme's own range, in bytes. */
const SHORTEST_SECRET = 24;
const LONGEST_SECRET = 64;
/** A receiver has to take a ring, not to work on it. */
const LONGEST_TIMEOUT_MS = 20_000;
const GONE = 410;

/** null: the catalogue has none. Throws, naming the connection, for a secret that isn't one. */
export function openWebhook({ settings, connections }: Catalogue): Webhook | null {
  const connection = settings.webhook === null ? undefined : connections[settings.webhook];
  if (connection === undefined) return null;
  const key = signingKey(connection);
  const { origin, pathname } = new URL(connection.baseUrl);
  // What signs is the message, so there is nothing left for the connection to sign in with.
  const receiver = openHttpConnection({
    ...connection,
    baseUrl: origin,
    auth: { kind: 'none' },
    timeoutMs: Math.min(connection.timeoutMs, LONGEST_TIMEOUT_MS),
  });
  return {
    async deliver({ id, body }) {
      // Of this attempt: receivers refuse what is some minutes old.
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      };
      const request = { method: 'POST', path: pathname, headers, body };
      return deliveryOf(
        connection,
        await receiver.exchange(request, { purpose: 'send', rules: connection.reply }),
      );
    },
  };
}

function signingKey({ name, auth }: Connection): Uint8Array {
  const text = (webhookSecret(auth) ?? '').replace(/^whsec_/, '');
  const key = Buffer.from(text, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  if (!isBase64 || key.length < SHORTEST_SECRET || key.length > LONGEST_SECRET)
    throw new Error(
      `connection "${name}": the secret of its webhook must be ${SHORTEST_SECRET} to ${LONGEST_SECRET} random bytes in base64, with or without "whsec_" before it, e.g. from: openssl rand -base64 32`,
    );
  return key;
}

function deliveryOf({ name }: Connection, exchanged: Exchanged): Delivery {
  const failed = (why: string, retryAfterMs: number | null = null, again = true): Delivery => ({
    taken: false,
    why: `the webhook "${name}" did not take it: ${why}`,
    again,
    retryAfterMs,
  });
  switch (exchanged.kind) {
    case 'held':
      return failed('its connection is at its limit', exchanged.waitMs);
    case 'unreached':
    case 'lost':
      return failed(exchanged.why);
    case 'reply': {
      const { reply, flaw, pauseMs } = exchanged;
      if (exchanged.class === 'accepted' || exchanged.class === 'already') return { taken: true };
      const why = `HTTP ${reply.status}${flaw === null ? '' : `, ${flaw}`}`;
      return failed(why, pauseMs, reply.status !== GONE);
    }
  }
}
