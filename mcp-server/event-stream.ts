/** Server-sent events of JSON-RPC messages: reading them apart, and writing them at the reader's pace. */

export interface Frame {
  /** As it came, with its blank line. */
  readonly frame: string;
  /** The JSON in its data; undefined: a comment. */
  readonly message: unknown;
}

/** Each event of a stream, until it ends. Once `left` aborts, the stream is cancelled. */
export async function* framesOf(
  body: ReadableStream<Uint8Array>,
  left: AbortSignal,
): AsyncGenerator<Frame, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  left.addEventListener('abort', leave, { once: true });
  if (left.aborted) leave();
  let unread = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const frames = (unread + value).split('\n\n');
      unread = frames.pop() ?? '';
      for (const frame of frames) yield { frame: `${frame}\n\n`, message: dataOf(frame) };
    }
  } finally {
    left.removeEventListener('abort', leave);
    leave();
  }
}

function dataOf(frame: string): unknown {
  const lines = frame.split('\n').filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return undefined;
  return JSON.parse(lines.map((line) => line.slice('data:'.length).trimStart()).join('\n'));
}

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Aborted when the reader has gone. */
  readonly left: AbortSignal;
  put(message: object): void;
  putFrame(frame: string): void;
  /** Replaces what was put under this key and has not been read yet, so that a slow reader costs no memory. */
  putLatest(key: string, message: object): void;
  /** Closes the stream once all has been read, `lastFrame` last. */
  end(lastFrame?: string): void;
}

/** For the reader behind `signal`, which aborts when its connection closes. Comments keep a silent stream alive. */
export function eventStream(keepAliveMs: number, signal: AbortSignal): EventStream {
  const frames: string[] = [];
  const latest = new Map<string, string>();
  const cancelled = new AbortController();
  const left = AbortSignal.any([signal, cancelled.signal]);
  const encoder = new TextEncoder();
  let ended = false;
  let last: string | undefined;
  let wake = (): void => undefined;

  const keepAlive = setInterval(() => {
    if (frames.length === 0) putFrame(': keepalive\n\n');
  }, keepAliveMs);
  keepAlive.unref();

  function putFrame(frame: string): void {
    if (ended) return;
    frames.push(frame);
    wake();
  }
  function next(): string | undefined {
    const frame = frames.shift();
    if (frame !== undefined) return frame;
    const [entry] = latest;
    if (entry !== undefined) {
      latest.delete(entry[0]);
      return entry[1];
    }
    const frameAtEnd = last;
    last = undefined;
    return frameAtEnd;
  }
  function end(lastFrame?: string): void {
    if (ended) return;
    last = lastFrame;
    ended = true;
    clearInterval(keepAlive);
    wake();
  }

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const frame = next();
        if (frame !== undefined) {
          controller.enqueue(encoder.encode(frame));
          return;
        }
        if (ended) {
          controller.close();
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    cancel() {
      cancelled.abort();
    },
  });
  left.addEventListener('abort', () => end(), { once: true });
  if (left.aborted) end();
  return {
    body,
    left,
    put: (message) => putFrame(asFrame(message)),
    putFrame,
    putLatest(key, message) {
      if (ended) return;
      latest.set(key, asFrame(message));
      wake();
    },
    end,
  };
}

const asFrame = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
