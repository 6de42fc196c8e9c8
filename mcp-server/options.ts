import { LONGEST_WAIT_SECONDS } from '../domain/message.ts';

/** How one MCP server answers; the same for every connection it serves. */
export interface McpOptions {
  /** A command that ends within this many milliseconds answers inline, for clients with tasks. 0: always a task. */
  readonly taskGraceMs: number;
  /** How long a call waits for a client without tasks, in milliseconds. At most `LONGEST_WAIT_MS`. */
  readonly syncWaitMs: number;
  /** Nobody watches this server's clients: whatever needs a person waits in the queue. */
  readonly unattended: boolean;
  /** Mirror `device` into an `Mcp-Param-Device` header; clients that can't are refused. */
  readonly deviceHeader: boolean;
  /** `task`: a command that waits for somebody whom the client can't ask stays a task, for clients that take one. */
  readonly operatorWait: 'answer' | 'task';
  /**
   * Signs what a client carries from a question to its answer; every server behind one address needs the same
   * (`requestStateKey`). null: clients that would have to carry something aren't asked, the queue decides.
   */
  readonly stateKey: Uint8Array | null;
  /** Where people decide approvals; null: no console runs. */
  readonly consoleUrl: string | null;
  /** The issuer at which people sign in to the console; null: nobody can. */
  readonly consoleIssuer: string | null;
}

export const LONGEST_WAIT_MS = LONGEST_WAIT_SECONDS * 1000;

export const DEFAULT_OPTIONS: McpOptions = {
  taskGraceMs: 5_000,
  syncWaitMs: LONGEST_WAIT_MS,
  unattended: false,
  deviceHeader: false,
  operatorWait: 'answer',
  stateKey: null,
  consoleUrl: null,
  consoleIssuer: null,
};
