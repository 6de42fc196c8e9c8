/** How long an exchange with a device may take at the most: what waits for it waits that long. All in milliseconds. */
import type { DeviceDefinition } from './catalogue/definition.ts';

/** Beyond the requests' own time-outs: rendering, short pauses of an API, a busy worker. */
const SLACK_MS = 10_000;
/** One request, the redirects that a read may follow, and what an adapter asks on the side. */
const REQUESTS_A_READ = 3;
/** One request, the sign-in and the attempt after it where it was turned away, and what an adapter asks on the side. */
const REQUESTS_A_SEND = 4;

/** One read, the refresh before it included. `timeoutMs`: of one request. */
export function longestReadMs({ read }: Pick<DeviceDefinition, 'read'>, timeoutMs: number): number {
  const refreshMs = read?.refresh == null ? 0 : timeoutMs + read.refresh.waitMs;
  return refreshMs + REQUESTS_A_READ * timeoutMs + SLACK_MS;
}

/** One send, the fresh read that it may need included. */
export function longestSendMs(device: Pick<DeviceDefinition, 'read'>, timeoutMs: number): number {
  return longestReadMs(device, timeoutMs) + REQUESTS_A_SEND * timeoutMs + SLACK_MS;
}

/** A worker learns with its next heartbeat that its command was cut off, and then sends nothing that has not left yet. */
const NEWS_OF_A_CUT_MS = 8000;

/** How long after a command was cut off (terminated, timed out) its send may still be on its way. */
export function cutSendMayArriveMs(timeoutMs: number): number {
  return NEWS_OF_A_CUT_MS + timeoutMs;
}
