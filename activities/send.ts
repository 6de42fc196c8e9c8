/** One send, once. Everything about repeating lives in the workflow, which alone knows when that is harmless. */
import { Context } from '@temporalio/activity';
import type { SendResult } from '../domain/exchange.ts';
import type { Reading } from '../domain/values.ts';
import type { SendInput } from '../workflows/messages.ts';
import { baseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';

const HEARTBEAT_EVERY_MS = 3000;

export async function send(dependencies: ActivityDependencies, input: SendInput): Promise<SendResult> {
  const { request, idempotencyKey } = input;
  const device = deviceOf(dependencies, request.device);
  const step = device?.send[input.step];
  if (device === undefined || step === undefined)
    return unreached(`${request.device} is not in the worker's catalogue any more`);

  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const needsCurrent = step.fillFromCurrent || step.uses.length > 0 || Object.keys(step.when).length > 0;
    const current: Readonly<Record<string, Reading>> = needsCurrent
      ? (await baseline(dependencies, device)).sample.fields
      : {};
    // Not the context's own signal: once begun, a send is let finish, so that it is known what it did.
    const signal = new AbortController().signal;
    const asked = Object.fromEntries(
      Object.entries(request.desired).filter(([field]) => input.fields.includes(field)),
    );
    return await dependencies.adapters(device).send(device, step, asked, current, { idempotencyKey, signal });
  } finally {
    clearInterval(beat);
  }
}

const unreached = (detail: string): SendResult => ({
  class: 'unreached',
  at: Date.now(),
  reply: null,
  detail,
  retryAfterMs: null,
  kept: {},
});
