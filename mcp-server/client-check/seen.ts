/** What was seen of one client: what it declares, and what it really did. Durations in milliseconds. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type McpServer,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { plain } from '../../domain/text.ts';
import { isJsonObject } from '../json-object.ts';
import type { Requester } from '../requester.ts';

export interface Declared {
  /** Name and version. */
  readonly client: string;
  readonly protocol: string;
  readonly requester: Requester;
  /** Everything that it declares, e.g. `elicitation.form`. */
  readonly capabilities: readonly string[];
  /** Those that belong to the protocol or to Readback; nothing that could hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** It asks to be told of progress. */
  readonly progress: boolean;
}

/** null: not tried yet, or there is nothing to try. */
export interface Seen {
  /** Of the latest request. */
  declared: Declared;
  /** Which part of a result the model is given. */
  reads: 'text' | 'structuredContent' | 'both' | 'neither' | null;
  form: Answered | null;
  page: (Answered & { readonly openedAfterMs: number | null }) | null;
  task: TaskSeen | null;
  patience: { readonly waitedMs: number; readonly gaveUp: boolean } | null;
}

export interface Answered {
  readonly answer: 'yes' | 'no' | 'dismissed' | 'mistyped' | 'none';
  readonly afterMs: number;
}

export interface TaskSeen {
  readonly polls: number;
  readonly listened: boolean;
  readonly resultFetched: boolean;
}

/** No person reads a question and answers it faster. */
export const NOBODY_ANSWERS_WITHIN_MS = 1_000;
const LONGEST_SHOWN = 100;
const SHOWN_HEADERS =
  /^(mcp-protocol-version|mcp-method|mcp-name|mcp-param-.*|readback-.*|user-agent|accept)$/;

/** `server`: the connection of a client of 2025-11-25 or older, which says all this once; null: each request says it. */
export function declaredIn(ctx: ServerContext, requester: Requester, server: McpServer | null): Declared {
  const envelope: unknown = ctx.mcpReq.envelope;
  const said = isJsonObject(envelope) ? envelope : {};
  /* oxlint-disable typescript/no-deprecated -- deprecated for 2026-07-28; on older connections nothing else knows. */
  const info = server === null ? said[CLIENT_INFO_META_KEY] : server.server.getClientVersion();
  const capabilities =
    server === null ? said[CLIENT_CAPABILITIES_META_KEY] : server.server.getClientCapabilities();
  const protocol =
    server === null ? said[PROTOCOL_VERSION_META_KEY] : server.server.getNegotiatedProtocolVersion();
  /* oxlint-enable typescript/no-deprecated */
  const version = isJsonObject(info) && typeof info['version'] === 'string' ? ` ${info['version']}` : '';
  return {
    client: plain(`${requester.client ?? 'a client without a name'}${version}`, LONGEST_SHOWN),
    protocol: typeof protocol === 'string' ? plain(protocol, LONGEST_SHOWN) : 'unknown',
    requester,
    capabilities: namesIn(capabilities),
    headers: headersOf(ctx),
    progress: ctx.mcpReq._meta?.progressToken !== undefined,
  };
}

function namesIn(capabilities: unknown): string[] {
  if (!isJsonObject(capabilities)) return [];
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const inside = isJsonObject(value) ? Object.keys(value).filter((key) => isJsonObject(value[key])) : [];
    const names = inside.length === 0 ? [name] : inside.map((key) => `${name}.${key}`);
    return names.map((one) => plain(one, LONGEST_SHOWN));
  });
}

function headersOf({ http }: ServerContext): Readonly<Record<string, string>> {
  const shown = [...(http?.req?.headers ?? [])].filter(([name]) => SHOWN_HEADERS.test(name));
  return Object.fromEntries(shown.map(([name, value]) => [name, plain(value, LONGEST_SHOWN)]));
}
