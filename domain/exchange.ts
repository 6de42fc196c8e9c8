/** What passes between Readback and a device's API, in terms that no transport owns. */
import type { ReplyClass } from './catalogue/definition.ts';
import type { Desired, Json, Reading, Value } from './values.ts';

/** A request ready to be sent: every `{}` filled and encoded, no secret in it (the adapter adds those). */
export interface DeviceRequest {
  readonly method: string;
  /** Starts with `/`; the connection's `baseUrl` goes before it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface DeviceReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; text that isn't JSON stays text; null where there was no body. */
  readonly body: Json;
}

/** What is kept of a reply as evidence. */
export interface ReplyEvidence {
  readonly status: number;
  /** At most 300 characters, control and bidi characters removed. */
  readonly body: string;
}

/**
 * How a send ended, as far as its reply tells.
 * `unreached`: certainly nothing arrived (connection refused, name not found).
 * `lost`: it may have arrived, no reply came (time-out, connection reset, worker died).
 * `notNeeded`: nothing was sent, since the device turned out to be as desired at the last moment.
 * `void`: nothing was sent, since what would be sent is not what was judged and approved.
 */
export type SendClass = ReplyClass | 'unreached' | 'lost' | 'notNeeded' | 'void';

export interface SendResult {
  readonly class: SendClass;
  /** The API took the request, in a reply that is its own: not a login page, not a reply cut short. */
  readonly acknowledged: boolean;
  readonly at: number;
  readonly reply: ReplyEvidence | null;
  /** What happened in words, without secrets: `HTTP 503`, `connection refused by 127.0.0.1:4100`. */
  readonly detail: string;
  /** For `limited` and `asleep`: how long the API asked us to wait, if it said so. */
  readonly retryAfterMs: number | null;
  /** Values kept for later reads (`keep`). */
  readonly kept: Readonly<Record<string, Value>>;
}

/** `unknown`: its expression had nothing to look at. Then, as while it is raised, nothing counts as verified. */
export type FaultState = 'clear' | 'raised' | 'unknown';

/** One read of a device, interpreted. All times are epoch milliseconds of Readback's own clock, but for `deviceAt`. */
export interface Sample {
  readonly at: number;
  /** The device's own stamp, raw; only ever compared with an earlier one of the same device. */
  readonly deviceAt: string | null;
  readonly fields: Readonly<Record<string, Reading>>;
  readonly moving: boolean;
  readonly faults: Readonly<Record<string, FaultState>>;
  /** Per field with `confirm`: did it hold? */
  readonly confirmed: Readonly<Record<string, boolean>>;
  /** Set when the whole read failed (not 2xx, no connection, `available` or `fresh` not true): why. Then every field is unreadable. */
  readonly trouble: string | null;
  /** The API asked for a pause. */
  readonly retryAfterMs: number | null;
}

/** Raw replies of one read, as expressions see them: `body`, `whole`, `status`, or one of these per named request. */
export type RawRead = Readonly<
  Record<string, { readonly status: number; readonly body: Json; readonly whole: Json }>
>;

/** What an expression about a read may look at besides the reply. */
export interface ReadContext {
  readonly desired: Desired | null;
  /** The raw baseline (`$before`), kept only for devices whose expressions use it. */
  readonly before: RawRead | null;
  readonly kept: Readonly<Record<string, Value>>;
  /** `deviceAt` of the baseline: with `at` declared, a sample with this very stamp is stale after a send. */
  readonly baselineDeviceAt: string | null;
  /** When the last send was made, epoch ms; left out before any. What is older is no readback of it, where an age is known. */
  readonly sentAt?: number;
}
