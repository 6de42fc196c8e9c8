/** `settings.webhook`: the connection that is rung when an approval waits. Its `baseUrl` is the whole address. */
import type { Auth, SignScheme } from './auth-definition.ts';
import type { Connection } from './definition.ts';
import { didYouMean, listed, type Report } from './problems.ts';

const PRESET = 'standard-webhooks';

/** The scheme that the connection's requests are signed by, where it is the one that webhooks have; else null. */
export const webhookScheme = (auth: Auth): SignScheme | null =>
  auth.kind === 'sign' && auth.preset === PRESET ? auth : null;

export function checkWebhook(
  name: string | undefined,
  connections: ReadonlyMap<string, { readonly connection: Connection }>,
  report: Report,
): void {
  // A reference to a secret is told already.
  if (name === undefined || name.includes('${')) return;
  const { connection } = connections.get(name) ?? {};
  if (connection === undefined) {
    const names = [...connections.keys()];
    const looksLikeAddress = /^https?:/.test(name) ? ' Its address belongs there, as "baseUrl".' : '';
    report(
      [],
      `names no connection; connections: ${listed(names)}.${didYouMean(name, names)}${looksLikeAddress}`,
    );
  } else if (connection.kind !== 'http') {
    report([], `the connection ${JSON.stringify(name)} is of kind ${connection.kind}: name one of kind http`);
  } else if (webhookScheme(connection.auth) === null) {
    report(
      [],
      `the connection ${JSON.stringify(name)} has to sign, so that nobody else can ring: give it auth: { sign: { preset: ${PRESET}, secret: "\${NAME}" } }`,
    );
  }
}
