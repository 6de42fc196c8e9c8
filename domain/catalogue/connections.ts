/** One connection: where it goes, how it signs in, and at what pace. */
import { resolveAuth } from './auth.ts';
import type { Auth } from './auth-definition.ts';
import type { Connection, ReplyRules, TlsOptions } from './definition.ts';
import { milliseconds } from './durations.ts';
import type { Report } from './problems.ts';
import type { RawConnection } from './schema.ts';
import { checkExpression } from './scope.ts';

export interface ConnectionContext {
  readonly defaultTimeout: string | 0;
  readonly defaultReply: ReplyRules;
  /** Where the built-in simulator listens; null: none runs. */
  readonly simulatorUrl: string | null;
  /** `raw` holds its secrets as references: addresses with one, or of the simulator, are left as they are. */
  readonly withoutSecrets: boolean;
}

/** `raw` has its secrets filled in, unless the context says otherwise; no message shows a value of it that could be one. */
export function resolveConnection(
  name: string,
  raw: RawConnection,
  context: ConnectionContext,
  report: Report,
): Connection {
  const kind = raw.kind ?? 'http';
  for (const [reply, source] of Object.entries(raw.reply ?? {})) {
    if (source)
      checkExpression(
        source,
        { roots: ['status', 'body', 'headers'], params: [], groups: {} },
        ['reply', reply],
        report,
      );
  }
  const reply = Object.entries({ ...context.defaultReply, ...raw.reply }).filter(
    ([, source]) => source !== null,
  );
  return {
    name,
    kind,
    baseUrl: kind === 'mqtt' ? brokerUrl(raw, context, report) : baseUrl(raw, context, report),
    timeoutMs: milliseconds(raw.timeout ?? context.defaultTimeout),
    auth: kind === 'mqtt' ? brokerAuth(raw, context, report) : signIn(raw, context, report),
    tls: tlsOf(raw.tls, report),
    secrets: raw.secrets ?? {},
    limits: (raw.limits ?? []).map((limit) => ({
      requests: limit.requests,
      perMs: milliseconds(limit.per),
      keepForReads: limit.keepForReads ?? 0,
      resetHeader: limit.resetHeader ?? null,
      remainingHeader: limit.remainingHeader ?? null,
    })),
    spacingMs: milliseconds(raw.spacing ?? 0),
    reply: Object.fromEntries(reply) as ReplyRules,
  };
}

function tlsOf(tls: RawConnection['tls'], report: Report): TlsOptions | null {
  if (tls === undefined) return null;
  const { ca = null, cert = null, key = null, insecure = false } = tls;
  if ((cert === null) !== (key === null))
    report(['tls', cert === null ? 'cert' : 'key'], 'is missing: a certificate and its key belong together');
  return { ca, cert, key, insecure };
}

function signIn(raw: RawConnection, context: ConnectionContext, report: Report): Auth {
  return resolveAuth(raw.auth, (text, reportAuth) => tokenUrl(text, context, reportAuth), report);
}

/** A broker knows a user name and a password; and a certificate that nobody looks at would protect nothing. */
function brokerAuth(raw: RawConnection, context: ConnectionContext, report: Report): Auth {
  const { url, tls } = raw;
  const resolved = signIn(raw, context, report);
  if (resolved.kind !== 'none' && resolved.kind !== 'basic')
    report(['auth', resolved.kind], 'is not for brokers: use basic (username, password)');
  if (tls !== undefined && url?.startsWith('mqtt://') === true)
    report(['tls'], 'has no meaning without TLS: write mqtts:// in "url"');
  return resolved;
}

const SIMULATOR = /^simulator:(\/.*)?$/;

/** Tokens and client secrets go there, so it has to be TLS, unless nothing leaves this machine. */
function tokenUrl(text: string, { simulatorUrl, withoutSecrets }: ConnectionContext, report: Report): string {
  const [simulated, path] = SIMULATOR.exec(text) ?? [];
  const filled = simulated === undefined ? text : `${(simulatorUrl ?? '').replace(/\/+$/, '')}${path ?? ''}`;
  // Without the simulator the base URL is what is wrong, and is told.
  if (simulated !== undefined && (withoutSecrets || simulatorUrl === null)) return text;
  const url = URL.canParse(filled) ? new URL(filled) : null;
  const isHere = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (
    url === null ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && (isHere || simulated !== undefined)))
  )
    report(['tokenUrl'], 'is no address that begins with https:// (http:// only on this machine)');
  else if (url.username !== '' || url.password !== '' || url.hash !== '')
    report(['tokenUrl'], 'holds a user name, a password or "#": give clientId and clientSecret instead');
  return filled;
}

function baseUrl(raw: RawConnection, context: ConnectionContext, report: Report): string {
  const { simulatorUrl, withoutSecrets } = context;
  if (raw.url !== undefined) report(['url'], 'is for mqtt connections: give baseUrl');
  if (raw.baseUrl === undefined) {
    report(['baseUrl'], 'is missing: give the address of the API, e.g. http://192.168.1.20');
    return '';
  }
  const [simulated, path] = SIMULATOR.exec(raw.baseUrl) ?? [];
  if (withoutSecrets && (simulated !== undefined || raw.baseUrl.includes('${'))) return raw.baseUrl;
  if (simulated === undefined) return checkedUrl(raw.baseUrl, ['http:', 'https:'], 'baseUrl', report);
  if (simulatorUrl === null) {
    report(
      ['baseUrl'],
      'needs the built-in simulator, and none is running: start it with "readback up" (without --no-simulator), or give the address of a real API',
    );
    return raw.baseUrl;
  }
  return checkedUrl(
    `${simulatorUrl.replace(/\/+$/, '')}${path ?? ''}`,
    ['http:', 'https:'],
    'baseUrl',
    report,
  );
}

function brokerUrl(raw: RawConnection, { withoutSecrets }: ConnectionContext, report: Report): string {
  if (raw.baseUrl !== undefined) report(['baseUrl'], 'is for http connections: give url');
  if (raw.url === undefined) {
    report(['url'], 'is missing: give the address of the broker, e.g. mqtt://127.0.0.1:1883');
    return '';
  }
  if (withoutSecrets && raw.url.includes('${')) return raw.url;
  return checkedUrl(raw.url, ['mqtt:', 'mqtts:'], 'url', report);
}

/** Without its trailing slash. The text itself is shown in no message: it might hold a password. */
function checkedUrl(text: string, protocols: readonly string[], key: string, report: Report): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const allowed = protocols.map((protocol) => `${protocol}//`).join(' or ');
  if (url === null || !protocols.includes(url.protocol) || url.hostname === '')
    report([key], `is no address that begins with ${allowed}`);
  else if (url.username !== '' || url.password !== '')
    report([key], 'holds a user name or a password: write them under "auth"');
  else if (url.search !== '' || url.hash !== '')
    report([key], 'must not hold "?" or "#": put query parameters under "auth" (query) or into the requests');
  return text.replace(/\/+$/, '');
}
