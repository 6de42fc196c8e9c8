/** A client of the matrix as its user has it: calls tools, shows answers, asks its person. */
import type { Endpoint } from './house.ts';
import type { Row } from './rows.ts';

export interface MatrixClient {
  /** Resolves with what the client shows its caller in the end, after all polling and asking that it does by itself. */
  call(tool: string, args: Readonly<Record<string, unknown>>, hints?: CallHints): Promise<Shown>;
  /** By the client's own way to cancel a task; null: it has none, or leaves it to the tool. */
  readonly cancelTask: ((taskId: string) => Promise<void>) | null;
  close(): Promise<void>;
}

export interface CallHints {
  /** The caller means to cancel it. */
  readonly willBeCancelled?: boolean;
}

export interface Shown {
  /** `a result`, `an error result`, ``ToolError` is raised`, … */
  readonly how: string;
  readonly text: string;
}

/** Whoever sits at the client. */
export type Ask = (params: any) => Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: any }>;

export interface ClientParts {
  readonly row: Row;
  readonly endpoint: Endpoint;
  readonly ask: Ask;
}

/** What a client that can declare it piece by piece declares. */
export function elicitationOf({ person }: Row): { elicitation?: { form?: {}; url?: {} } } {
  if (person === 'none') return {};
  return { elicitation: person === 'url' ? { url: {} } : { form: {} } };
}

/** How the client libraries of TypeScript hand over a tool's result. */
export function shownResult(result: any): Shown {
  const text = result.content.map((block: any) => block.text ?? '').join('\n');
  return { how: result.isError === true ? 'an error result' : 'a result', text };
}

/** As its user reads it: what was thrown. */
export function shownError(error: unknown): Shown {
  if (!(error instanceof Error)) throw error;
  return { how: `\`${error.name}\` is thrown`, text: error.message };
}
