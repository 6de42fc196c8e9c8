/** Who sends one request, and what that very request declares. Nothing is remembered from earlier ones. */

import type { ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import { plain } from '../domain/text.ts';
import { traceIdIn } from '../tracing/trace-context.ts';
import { isJsonObject } from './json-object.ts';
import type { McpOptions } from './options.ts';

/** Identifier of the Tasks extension, in capabilities of both sides. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** HTTP header; `queue` makes one call unattended. It can only tighten. */
export const APPROVAL_HEADER = 'Readback-Approval';

const LONGEST_CLIENT_NAME = 64;

export interface Requester {
  /** Owner of what this request starts; only the owner may ask about it. */
  readonly principal: string;
  /** The client program's own name, as it reports it. */
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
}

export function requesterOf(
  { envelope, meta = envelope, headers }: RequestFacts,
  connection: ConnectionFacts | null,
  options: Pick<McpOptions, 'unattended'>,
): Requester {
  const capabilities =
    connection === null ? memberOf(envelope, CLIENT_CAPABILITIES_META_KEY) : connection.capabilities;
  const client =
    connection === null ? memberOf(memberOf(envelope, CLIENT_INFO_META_KEY), 'name') : connection.client;
  return {
    // Nobody signs in yet: the one local user owns everything.
    principal: 'local',
    client: shownName(client),
    transport: headers === null ? 'stdio' : 'http',
    unattended: options.unattended || headers?.get(APPROVAL_HEADER)?.trim().toLowerCase() === 'queue',
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
  return requesterOf({ envelope: mcpReq.envelope, meta: mcpReq._meta, headers }, connection, options);
}

/** An empty `elicitation` means form: that is how it was declared before modes existed. */
function elicitationIn(capabilities: unknown): Requester['elicitation'] {
  const declared = memberOf(capabilities, 'elicitation');
  if (!isJsonObject(declared)) return { form: false, url: false };
  const url = isJsonObject(declared['url']);
  return { form: isJsonObject(declared['form']) || !url, url };
}

function shownName(name: unknown): string | null {
  return typeof name === 'string' ? plain(name, LONGEST_CLIENT_NAME) : null;
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}
