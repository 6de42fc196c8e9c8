/** Asks a sleeping device to wake, once, and reads it until it says that it is awake or its time is over. */
import { Context } from '@temporalio/activity';
import { saysAwake } from '../domain/waking.ts';
import type { CommandInput, Woken } from '../workflows/activity-types.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';
import { lookAt } from './look.ts';

const HEARTBEAT_EVERY_MS = 3000;

export async function wake(dependencies: ActivityDependencies, { request }: CommandInput): Promise<Woken> {
  const device = deviceOf(dependencies, request.device);
  if (device === undefined || device.wake === null)
    return {
      asked: false,
      look: null,
      detail: `nothing says how ${request.device} is woken`,
      retryAfterMs: null,
    };
  const context = Context.current();
  const adapter = dependencies.adapters(device);
  const until = Date.now() + device.wake.withinMs;
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const { class: taken, detail, retryAfterMs } = await adapter.wake(device, context.cancellationSignal);
    if (taken === 'unreached' || taken === 'limited')
      return { asked: false, look: null, detail, retryAfterMs };
    if (taken === 'refused' || taken === 'signedOut')
      return { asked: true, look: null, detail, retryAfterMs };
    for (;;) {
      const read = await adapter.read(
        device,
        { desired: null, before: null, kept: {}, baselineDeviceAt: null },
        context.cancellationSignal,
      );
      if (await saysAwake(device, read.raw, read.replies)) {
        return { asked: true, look: await lookAt(dependencies, request, read), detail, retryAfterMs: null };
      }
      const pauseMs = Math.max(device.settle.everyMs, read.sample.retryAfterMs ?? 0);
      if (Date.now() + pauseMs > until) return { asked: true, look: null, detail, retryAfterMs: null };
      await context.sleep(pauseMs);
    }
  } finally {
    clearInterval(beat);
  }
}
