/** The webhook of the catalogue's settings, signed as Standard Webhooks has it (https://www.standardwebhooks.com). */
import type { Ring } from '../domain/approval/ring.ts';
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import { webhookScheme } from '../domain/catalogue/webhook.ts';
import type { Shared } from './adapters.ts';
import { type Exchanged, openHttpConnection } from './http-connection.ts';
import { createSigner } from './sign-in/signature.ts';

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

/** A receiver has to take a ring, not to work on it. */
const LONGEST_TIMEOUT_MS = 20_000;
const GONE = 410;

/** null: the catalogue has none. Throws, naming the connection, for a secret that isn't one. */
export function openWebhook(
  { settings, connections }: Catalogue,
  lenderOf?: Shared['lenderOf'],
): Webhook | null {
  const connection = settings.webhook === null ? undefined : connections[settings.webhook];
  const scheme = connection === undefined ? null : webhookScheme(connection.auth);
  if (connection === undefined || scheme === null) return null;
  const sign = createSigner(connection.name, scheme);
  const { origin, pathname, host } = new URL(connection.baseUrl);
  // What signs is the message, so there is nothing left for the connection to sign in with.
  const timeoutMs = Math.min(connection.timeoutMs, LONGEST_TIMEOUT_MS);
  const receiver = openHttpConnection(
    { ...connection, baseUrl: origin, auth: { kind: 'none' }, timeoutMs },
    { lender: lenderOf?.(connection.name) },
  );
  return {
    async deliver({ id, body }) {
      const method = 'POST';
      const headers = {
        'content-type': 'application/json',
        ...sign({ method, path: pathname, host, body, token: '', nonce: id }),
      };
      const request = { method, path: pathname, headers, body };
      return deliveryOf(
        connection,
        await receiver.exchange(request, { device: '', purpose: 'send', rules: connection.reply }),
      );
    },
  };
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
      return failed(exchanged.why, exchanged.waitMs);
    case 'unreached':
    case 'lost':
    case 'signedOut':
      return failed(exchanged.why);
    case 'reply': {
      const { reply, flaw, pauseMs } = exchanged;
      if (exchanged.class === 'accepted' || exchanged.class === 'already') return { taken: true };
      const why = `HTTP ${reply.status}${flaw === null ? '' : `, ${flaw}`}`;
      return failed(why, pauseMs, reply.status !== GONE);
    }
  }
}
