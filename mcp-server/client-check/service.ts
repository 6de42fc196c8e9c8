/** An MCP server that finds out what its clients really do, on the same parts as Readback's own. It knows no devices. */
import { randomBytes } from 'node:crypto';
import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { mendAnswers } from '../mended-answers.ts';
import { requestStates } from '../request-state.ts';
import { type Requester, requesterOf, requesterOfContext, TASKS_EXTENSION } from '../requester.ts';
import { servedTool } from '../served-tool.ts';
import { connectionFacts, SERVER_INFO } from '../server.ts';
import type { McpService } from '../service.ts';
import { serveTasks } from '../tasks.ts';
import { serveTools } from '../tool-calls.ts';
import { CHECK_TOOL, type CheckParts, checkClient } from './check-client.ts';
import { checkTasks } from './check-tasks.ts';
import { type Declared, declaredIn, type Seen } from './seen.ts';

export interface ClientCheckParts extends Pick<CheckParts, 'pages' | 'patienceMs'> {
  /** Something new was seen of this client. */
  readonly changed: (seen: Seen) => void;
  readonly onError: (error: Error) => void;
}

const CHECK_INFO = { ...SERVER_INFO, name: 'readback-client-check', title: 'Readback: client check' };
/** The client's own limit is to show, not ours. */
const DIALOG_WITHIN_MS = 5 * 60_000;
const ATTENDED = { unattended: false };

/** Clients are told apart by what they say of themselves, since newer ones have no sessions. */
export function clientCheckService(parts: ClientCheckParts): McpService {
  const clients = new Map<string, Seen>();
  const seenBy = new WeakMap<Requester, Seen>();
  const changed = (): void => {
    for (const seen of clients.values()) parts.changed(seen);
  };
  function seen(declared: Declared): Seen {
    const { client, protocol, requester, capabilities } = declared;
    const key = [client, protocol, requester.transport, requester.unattended, ...capabilities].join('\n');
    const known = clients.get(key) ?? { ...NOTHING_YET, declared };
    known.declared = declared;
    clients.set(key, known);
    return known;
  }
  const tasks = checkTasks(changed);
  const seenOf: CheckParts['seenOf'] = ({ requester }) => present(seenBy.get(requester));
  const tool = checkClient({ ...parts, tasks, changed, seenOf });
  const states = requestStates(randomBytes(32));

  const serverFor: McpService['serverFor'] = ({ era }) => {
    const modern = era === 'modern';
    const server = new McpServer(CHECK_INFO, {
      instructions: `Call ${CHECK_TOOL}, and do what each of its answers says, until it reports; then show the report to the user.`,
      capabilities: { tools: {}, ...(modern && { extensions: { [TASKS_EXTENSION]: {} } }) },
    });
    const noted = (ctx: ServerContext): Requester => {
      const requester = requesterOfContext(ctx, modern ? null : connectionFacts(server), ATTENDED);
      seenBy.set(requester, seen(declaredIn(ctx, requester, modern ? null : server)));
      return requester;
    };
    const toolParts = { requesterOf: noted, states, syncWaitMs: DIALOG_WITHIN_MS };
    serveTools(server, [servedTool(tool, toolParts)], parts.onError);
    if (modern) serveTasks(server, { store: tasks, requesterOf: noted, onError: parts.onError });
    return mendAnswers(server);
  };
  return {
    serverInfo: CHECK_INFO,
    serverFor,
    tasks,
    requesterOf: (facts) => requesterOf(facts, null, ATTENDED),
    onError: parts.onError,
  };
}

const NOTHING_YET = { reads: null, form: null, page: null, task: null, patience: null };

function present(seen: Seen | undefined): Seen {
  if (seen === undefined) throw new Error('a call by a client that was not noted');
  return seen;
}
