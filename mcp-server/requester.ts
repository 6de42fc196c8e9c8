/** Who sends one request, and what that very request declares. Nothing is remembered from earlier ones. */

import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import { plain } from '../domain/text.ts';
import { traceIdIn } from '../tracing/trace-context.ts';
import { isJsonObject } from './json-object.ts';
import type { McpOptions } from './options.ts';
import { UNATTENDED } from './scopes.ts';
import { principalOf } from './signed-in.ts';

/** Identifier of the Tasks extension, in capabilities of both sides. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** HTTP header; `queue` makes one call unattended. It can only tighten. */
export const APPROVAL_HEADER = 'Readback-Approval';

const LONGEST_CLIENT_NAME = 64;
const LONGEST_CLIENT_ID = 128;
/** Where nobody signs in, the one local user owns everything. No issuer calls anybody so. */
const NOBODY = 'local';

export interface Requester {
  /** Owner of what this request starts; only the owner may ask about it. */
  readonly principal: string;
  /**
   * The client program. Where people sign in, first its id as the issuer knows it; then, in brackets, its own name as it
   * reports it. Else that name alone.
   */
  readonly client: string | null;
  readonly transport: 'http' | 'stdio';
  readonly unattended: boolean;
  /** Of the trace that the request belongs to (W3C Trace Context); null: none. */
  readonly traceId: string | null;
  /** The client can be given a task instead of a result. */
  readonly tasks: boolean;
  /** Speaks 2025-11-25 or older: can be asked during a call, but carries nothing from one call to the next. */
  readonly legacy: boolean;
  /** What the client says it can show to its user. */
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
}

/** What a connection of 2025-11-25 or older said when it opened; those requests carry nothing themselves. */
export interface ConnectionFacts {
  readonly client: string | null;
  readonly capabilities: unknown;
}

/** What a request of 2026-07-28 says about its sender. */
export interface RequestFacts {
  /** Its `_meta`. */
  readonly envelope: unknown;
  /** What its `_meta` says besides, where that comes apart from the envelope. */
  readonly meta?: unknown;
  /** Of the HTTP request; null on stdio. */
  readonly headers: Headers | null;
  /** Absent where nobody signs in. */
  readonly auth?: AuthInfo | undefined;
}

export function requesterOf(
  { envelope, meta = envelope, headers, auth }: RequestFacts,
  connection: ConnectionFacts | null,
  options: Pick<McpOptions, 'unattended'>,
): Requester {
  const capabilities =
    connection === null ? memberOf(envelope, CLIENT_CAPABILITIES_META_KEY) : connection.capabilities;
  const client =
    connection === null ? memberOf(memberOf(envelope, CLIENT_INFO_META_KEY), 'name') : connection.client;
  return {
    principal: auth === undefined ? NOBODY : principalOf(auth),
    client: clientOf(auth?.clientId ?? '', shownName(client)),
    transport: headers === null ? 'stdio' : 'http',
    unattended: options.unattended || asksForQueue(headers) || auth?.scopes.includes(UNATTENDED) === true,
    traceId: traceIdIn(meta),
    tasks:
      connection === null && isJsonObject(memberOf(memberOf(capabilities, 'extensions'), TASKS_EXTENSION)),
    legacy: connection !== null,
    elicitation: elicitationIn(capabilities),
  };
}

/** The same, from what a request handler is given. */
export function requesterOfContext(
  { mcpReq, http }: ServerContext,
  connection: ConnectionFacts | null,
  options: Pick<McpOptions, 'unattended'>,
): Requester {
  const headers = http === undefined ? null : (http.req?.headers ?? new Headers());
  const facts = { envelope: mcpReq.envelope, meta: mcpReq._meta, headers, auth: http?.authInfo };
  return requesterOf(facts, connection, options);
}

/** An empty `elicitation` means form: that is how it was declared before modes existed. */
function elicitationIn(capabilities: unknown): Requester['elicitation'] {
  const declared = memberOf(capabilities, 'elicitation');
  if (!isJsonObject(declared)) return { form: false, url: false };
  const url = isJsonObject(declared['url']);
  return { form: isJsonObject(declared['form']) || !url, url };
}

const asksForQueue = (headers: Headers | null): boolean =>
  headers?.get(APPROVAL_HEADER)?.trim().toLowerCase() === 'queue';

/** The id comes first: what a program calls itself could otherwise look like another one's id. */
function clientOf(id: string, name: string | null): string | null {
  if (id === '') return name;
  const shownId = plain(id, LONGEST_CLIENT_ID);
  return name === null ? shownId : `${shownId} (${name})`;
}

function shownName(name: unknown): string | null {
  return typeof name === 'string' ? plain(name, LONGEST_CLIENT_NAME) : null;
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}
