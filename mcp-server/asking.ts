/** A tool that needs something from its caller's user within the call itself: the question, and how the answer comes back. */
import type { InputRequest } from '@modelcontextprotocol/server';

/** What a tool answers with when it can't go on without its user. */
export interface Asking {
  readonly kind: 'asking';
  readonly question: { readonly key: string; readonly request: ElicitationRequest };
  /** Comes back with the answer. JSON; the client can read it. */
  readonly state: unknown;
  /** Epoch ms; later answers don't count. */
  readonly expiresAt: number;
}

export type ElicitationRequest = Extract<InputRequest, { method: 'elicitation/create' }>;

/** Asks to open a page, on which the person answers; what the client says of it is only whether it was opened. */
export const isPage = (request: InputRequest): boolean =>
  request.method === 'elicitation/create' && request.params.mode === 'url';

/** What became of a question; the tool is called again with it. */
export interface Reply {
  /** As the tool gave it. */
  readonly state: unknown;
  /** `mrtr`: the client made the call again; `form`: it was sent the question during the call. */
  readonly via: 'mrtr' | 'form';
  /** null: nobody answered in time, or the client couldn't show it. A tool doesn't ask again after that. */
  readonly answer: Answer | null;
}

/** The client's response as it came: a stranger's. */
interface Answer {
  readonly response: unknown;
}

export function isAsking(result: object): result is Asking {
  return 'kind' in result && result.kind === 'asking';
}
