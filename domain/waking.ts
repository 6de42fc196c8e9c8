/** Devices that sleep: what tells that one does, and that it has woken. */
import type { DeviceDefinition } from './catalogue/definition.ts';
import type { RawRead, ReadContext } from './exchange.ts';
import { outcomeOf, type Replies, scopeOf } from './expression-scope.ts';
import { classifyReply } from './interpretation.ts';

const NO_COMMAND: ReadContext = { desired: null, before: null, kept: {}, baselineDeviceAt: null };

/** Does one of a read's replies say that the device sleeps (`reply.asleep`)? */
export async function saysAsleep({ reply }: DeviceDefinition, replies: Replies): Promise<boolean> {
  for (const one of Object.values(replies)) if ((await classifyReply(reply, one)) === 'asleep') return true;
  return false;
}

/** Does a read say that the device is awake (`wake.until`)? Only a whole one, in which every request was answered with 2xx, can. */
export async function saysAwake(device: DeviceDefinition, raw: RawRead, replies: Replies): Promise<boolean> {
  const { read, wake } = device;
  if (read === null || wake === null) return false;
  const answered = Object.keys(read.requests).every((name) => {
    const status = Object.hasOwn(raw, name) ? (raw[name]?.status ?? 0) : 0;
    return status >= 200 && status < 300;
  });
  if (!answered || (await saysAsleep(device, replies))) return false;
  return (await outcomeOf(wake.until, scopeOf(device, read, raw, replies, NO_COMMAND))).value === true;
}
