/** What reached a device: exact counts, and the latest requests as they came in. */

const KEPT_REQUESTS = 200;
const KEPT_BODY_CHARACTERS = 4096;

export type Purpose = 'send' | 'read' | 'refresh' | 'wake';

export interface Counters {
  /** Every request that came in, whatever became of it. */
  requests: number;
  sends: {
    /** Reached the device's API and were not turned away. */
    arrived: number;
    /** Made the device do something. */
    acted: number;
    /** Stopped before the device: not signed in, over the limit, asleep. */
    turnedAway: number;
  };
  reads: { arrived: number; turnedAway: number };
  /** Refreshes and wakes that were not turned away. */
  refreshes: number;
  wakes: number;
  /** Connections torn before the request was read. */
  dropped: number;
}

export interface ReceivedRequest {
  /** ISO time by the simulator's clock. */
  readonly at: string;
  readonly purpose: Purpose;
  readonly method: string;
  readonly path: string;
  /** Without secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 4096 characters. */
  readonly body: string;
  readonly turnedAway: boolean;
  acted: boolean;
  /** The status, or what became of the connection. null: not answered yet. */
  answer: number | 'torn' | null;
}

export interface Ledger {
  readonly counters: Counters;
  /** Oldest first, the latest 200. */
  readonly received: readonly ReceivedRequest[];
  drop(): void;
  note(request: Omit<ReceivedRequest, 'acted' | 'answer'>): ReceivedRequest;
  acted(request: ReceivedRequest): void;
  reset(): void;
}

export function createLedger(): Ledger {
  let counters = noCounts();
  let received: ReceivedRequest[] = [];
  return {
    get counters() {
      return counters;
    },
    get received() {
      return received;
    },
    drop() {
      counters.requests++;
      counters.dropped++;
    },
    note(request) {
      const entry: ReceivedRequest = {
        ...request,
        body: request.body.slice(0, KEPT_BODY_CHARACTERS),
        acted: false,
        answer: null,
      };
      received.push(entry);
      if (received.length > KEPT_REQUESTS) received.shift();
      counters.requests++;
      if (request.purpose === 'send') counters.sends[request.turnedAway ? 'turnedAway' : 'arrived']++;
      else if (request.purpose === 'read') counters.reads[request.turnedAway ? 'turnedAway' : 'arrived']++;
      else if (!request.turnedAway) counters[request.purpose === 'refresh' ? 'refreshes' : 'wakes']++;
      return entry;
    },
    acted(request) {
      request.acted = true;
      counters.sends.acted++;
    },
    reset() {
      counters = noCounts();
      received = [];
    },
  };
}

function noCounts(): Counters {
  return {
    requests: 0,
    sends: { arrived: 0, acted: 0, turnedAway: 0 },
    reads: { arrived: 0, turnedAway: 0 },
    refreshes: 0,
    wakes: 0,
    dropped: 0,
  };
}
