/** What every transport serves: server instances for both protocol eras, and the tasks behind them. It knows no devices. */
import type { Implementation, McpRequestContext, McpServer } from '@modelcontextprotocol/server';
import type { Requester, RequestFacts } from './requester.ts';
import type { TaskStore } from './tasks.ts';

/** One instance a request in the modern era, one a connection or session in the legacy one. */
export type McpServerForEra = (ctx: McpRequestContext) => McpServer;

export interface McpService {
  /** How the server names itself. */
  readonly serverInfo: Implementation;
  readonly serverFor: McpServerForEra;
  readonly tasks: TaskStore;
  /** The sender of a request of 2026-07-28. */
  readonly requesterOf: (facts: RequestFacts) => Requester;
  /** For the log: faults of ours in full, of which clients are told in general, and requests refused at the door. */
  readonly onError: (error: Error) => void;
}
