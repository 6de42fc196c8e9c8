/** A `subscriptions/listen` stream as it travels over HTTP. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { envelope, TASKS, type WireOptions } from './wire.ts';

type Message = Readonly<Record<string, any>>;

export interface Listening {
  readonly status: number;
  /** Everything so far, in order: the acknowledgement first. */
  readonly messages: readonly Message[];
  /** Comments so far. */
  readonly comments: readonly string[];
  /** What was notified of this task so far. */
  tasks(taskId: string): readonly Message[];
  /** The first message that is as wanted, which may have come already. */
  until(isWanted: (message: Message) => boolean): Promise<Message>;
  /** Resolves when the server has closed the stream. */
  readonly closed: Promise<void>;
  hangUp(): void;
}

const GIVE_UP_AFTER_MS = 20_000;
export const LISTEN_ID = 'listen-1';

export async function listen(
  url: string,
  notifications: unknown,
  { capabilities = TASKS, headers = {} }: WireOptions = {},
): Promise<Listening> {
  const line = new AbortController();
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: LISTEN_ID,
      method: 'subscriptions/listen',
      params: { notifications, _meta: envelope(capabilities) },
    }),
    signal: line.signal,
  });
  const messages: Message[] = [];
  const comments: string[] = [];
  const arrival = new EventEmitter();
  const closed = (async () => {
    let unread = '';
    try {
      for await (const chunk of response.body ?? []) {
        unread += Buffer.from(chunk).toString();
        const frames = unread.split('\n\n');
        unread = frames.pop() ?? '';
        for (const frame of frames) {
          const data = /^data: (.+)$/m.exec(frame)?.[1];
          if (data === undefined) comments.push(frame);
          else messages.push(JSON.parse(data));
        }
        arrival.emit('message');
      }
      if (unread.startsWith('{')) messages.push(JSON.parse(unread));
    } catch (error) {
      if (!line.signal.aborted) throw error;
    }
    arrival.emit('message');
  })();
  return {
    status: response.status,
    messages,
    comments,
    closed,
    tasks: (taskId) =>
      messages
        .filter(({ method, params }) => method === 'notifications/tasks' && params.taskId === taskId)
        .map(({ params }) => params),
    async until(isWanted) {
      const signal = AbortSignal.timeout(GIVE_UP_AFTER_MS);
      for (;;) {
        const found = messages.find(isWanted);
        if (found !== undefined) return found;
        await once(arrival, 'message', { signal }).catch(() => {
          assert.fail(`not among ${JSON.stringify(messages)}`);
        });
      }
    },
    hangUp: () => line.abort(),
  };
}

export const showsTask =
  (taskId: string, status: string) =>
  ({ method, params }: Message): boolean =>
    method === 'notifications/tasks' && params.taskId === taskId && params.status === status;

/** The message by which a server ends a stream gracefully. */
export const isLastWord = ({ id, result }: Message): boolean => id === LISTEN_ID && result !== undefined;
