/** Where a broker is, who we are to it, and what of its answers concerns both the sign-in and what follows. */
import type { IClientOptions } from 'mqtt';

export interface Endpoint {
  /** `host:port`, as people are shown it. */
  readonly host: string;
  /** Address, trust and account, as the library takes them. */
  readonly options: IClientOptions;
  /** For the sign-in, and for each answer of the broker. */
  readonly timeoutMs: number;
  readonly largest: Largest;
}

/** How much of one message is taken. */
export interface Largest {
  /** Sent to the broker, which then withholds what is longer; where it is too old for that, the connection ends instead. */
  readonly packetBytes: number;
  /** What is longer is named as such, and not kept. */
  readonly payloadBytes: number;
}

/** A device's state is a few hundred bytes. */
export const LARGEST_STATE: Largest = { packetBytes: 1_000_000, payloadBytes: 100_000 };
/** Reason codes of MQTT 3.1.1 and 5 for an account that is unknown or may not. */
export const BAD_SIGN_IN: readonly number[] = [4, 5, 134, 135];
