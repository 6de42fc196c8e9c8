/** MCP resources over any store of them: resources/list, resources/templates/list, resources/read, and completion of their ids. */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { protocolErrorOf } from './errors.ts';
import type { Requester } from './requester.ts';

export interface ResourceStore {
  readonly templates: readonly ResourceTemplateType[];
  /** A page of what this principal may read; null: no page gave out that cursor. */
  list(cursor: string | undefined, principal: string): Promise<ResourcePage | null>;
  /** undefined: unknown, somebody else's, or no longer kept. */
  read(uri: string, principal: string): Promise<ReadResource | undefined>;
  /** What the variable of a template may be, beginning with `value`; undefined: there is no such template or variable. */
  complete(
    template: string,
    variable: string,
    value: string,
    principal: string,
  ): Promise<readonly string[] | undefined>;
  /** Everything in the list that is the same for all; another text when that has changed. */
  listed(): string;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
}

/** What is read is JSON. */
export interface ReadResource {
  readonly content: object;
  /** For how long it may be shown again without being read anew. */
  readonly ttlMs: number;
}

export interface ResourcesParts {
  readonly store: ResourceStore;
  readonly requesterOf: (ctx: ServerContext) => Requester;
  readonly onError: (error: Error) => void;
}

export const RESOURCE_TYPE = 'application/json';
/** What MCP allows in one answer. */
const MOST_COMPLETIONS = 100;

/** The server must have declared `resources` and `completions`. */
export function serveResources(server: McpServer, { store, requesterOf, onError }: ResourcesParts): void {
  const passing = async <T>(answer: Promise<T>): Promise<T> =>
    await answer.catch((error: unknown) => {
      throw protocolErrorOf(error, onError);
    });

  server.server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...store.templates],
  }));

  server.server.setRequestHandler('resources/list', async ({ params }, ctx) => {
    const page = await passing(store.list(params?.cursor, requesterOf(ctx).principal));
    if (page === null) throw invalid('cursor is not one that resources/list gave; start without one.');
    return { ...page, resources: [...page.resources] };
  });

  server.server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const requester = requesterOf(ctx);
    const found = await passing(store.read(uri, requester.principal));
    if (found === undefined) throw resourceNotFound(uri);
    const text = JSON.stringify(found.content);
    return {
      contents: [{ uri, mimeType: RESOURCE_TYPE, text }],
      // Whoever may read it is decided anew each time.
      ...(!requester.legacy && { ttlMs: found.ttlMs, cacheScope: 'private' }),
    };
  });

  server.server.setRequestHandler('completion/complete', async ({ params }, ctx) => {
    const { ref, argument } = params;
    const { principal } = requesterOf(ctx);
    const found =
      ref.type === 'ref/resource'
        ? await passing(store.complete(ref.uri, argument.name, argument.value, principal))
        : undefined;
    if (found === undefined)
      throw invalid('Only the variables of the templates in resources/templates/list can be completed.');
    const values = found.slice(0, MOST_COMPLETIONS);
    return { completion: { values, total: found.length, hasMore: values.length < found.length } };
  });
}

/** One and the same for what is unknown, somebody else's and no longer kept (2026-07-28, resources: -32602 with the URI). */
function resourceNotFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(
    uri,
    'No such resource: it is unknown, not yours, or no longer kept. resources/list names those there are.',
  );
}

const invalid = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);
