/** Which clients there are, what each can be, and the rows of the matrix: pairwise, not every combination. */
import { pairwise } from './pairs.ts';

/** What is known of a client beforehand: from its documentation, not from how it behaves here. */
interface ClientFacts {
  /** As its users call it. */
  readonly name: string;
  readonly eras: readonly Era[];
  readonly people: readonly Person[];
}

export type Era = 'modern' | 'legacy';
/**
 * Who is there to be asked. `form`: somebody who is shown forms, and says yes. `unattended`: the same client, told that
 * nobody watches (a header over HTTP, a flag over stdio). `url`: the client can only open pages. `none`: it declares no elicitation.
 */
export type Person = 'form' | 'unattended' | 'url' | 'none';

const EVERYBODY = ['form', 'unattended', 'url', 'none'] as const;
/** Those that declare forms and pages together, or neither. */
const ALL_OR_NOTHING = ['form', 'unattended', 'none'] as const;

export const CLIENTS = {
  typescript: {
    name: '`@modelcontextprotocol/client`',
    eras: ['modern', 'legacy'],
    people: EVERYBODY,
  },
  'ext-tasks': { name: '`@modelcontextprotocol/ext-tasks`', eras: ['modern'], people: EVERYBODY },
  sdk: { name: '`@modelcontextprotocol/sdk` 1.x', eras: ['legacy'], people: EVERYBODY },
  'inspector-cli': {
    name: 'Inspector, `inspector --cli`',
    eras: ['modern', 'legacy'],
    people: ['unattended', 'none'],
  },
  mcpdo: { name: 'Inspector, `mcpdo`', eras: ['modern', 'legacy'], people: EVERYBODY },
  mcp: { name: 'Python `mcp`', eras: ['modern', 'legacy'], people: ALL_OR_NOTHING },
  fastmcp: { name: 'Python `fastmcp`', eras: ['modern', 'legacy'], people: ALL_OR_NOTHING },
  'fastmcp-tasks': {
    name: 'Python `fastmcp` with `fastmcp_tasks`',
    eras: ['modern'],
    people: ALL_OR_NOTHING,
  },
} as const satisfies Readonly<Record<string, ClientFacts>>;

export type ClientId = keyof typeof CLIENTS;

export interface Row {
  readonly client: ClientId;
  readonly era: Era;
  readonly transport: 'http' | 'stdio';
  readonly person: Person;
}

export const ROWS: readonly Row[] = pairwise(
  {
    client: Object.keys(CLIENTS) as ClientId[],
    era: ['modern', 'legacy'],
    transport: ['http', 'stdio'],
    person: EVERYBODY,
  },
  ({ client, era, person }) => {
    const { eras, people }: ClientFacts = CLIENTS[client];
    return eras.includes(era) && people.includes(person);
  },
);
