/** What a connection kind must be able to do. One adapter a file: `http.ts`, `home-assistant.ts`, `mqtt.ts`. */
import type { Purpose } from '../domain/budget.ts';
import type { DeviceDefinition, SendStep } from '../domain/catalogue/definition.ts';
import type { DeviceReply, RawRead, ReadContext, Sample, SendResult } from '../domain/exchange.ts';
import type { Desired, Reading } from '../domain/values.ts';

export interface ReadResult {
  /** Never thrown away and never thrown: a failed read is a sample with `trouble`. */
  readonly sample: Sample;
  /**
   * The definition by which `sample` was made, and by which it is to be compared: the catalogue's, completed by what only
   * the device knows (Home Assistant: unit and step of temperatures).
   */
  readonly device: DeviceDefinition;
  /** As `$before` shows it to expressions. */
  readonly raw: RawRead;
  /** The replies themselves, for `devices probe`. Empty where no reply came. */
  readonly replies: Readonly<Record<string, DeviceReply>>;
}

export interface DeviceAdapter {
  /** One read (all requests of the device's `read`). Rejects only when `signal` aborts. */
  read(device: DeviceDefinition, context: ReadContext, signal: AbortSignal): Promise<ReadResult>;

  /** Asks the device or its cloud for a fresh report (`read.refresh`), and waits as declared. Failures are ignored: the read tells. */
  refresh(device: DeviceDefinition, purpose: Purpose, signal: AbortSignal): Promise<void>;

  /**
   * One request of one step, exactly once: no retry of any kind in here.
   * `current` is the baseline, for `fill`, `uses` and `when`.
   */
  send(
    device: DeviceDefinition,
    step: SendStep,
    desired: Desired,
    current: Readonly<Record<string, Reading>>,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<SendResult>;

  /**
   * Asks a sleeping device to wake (`wake.request`), exactly once. How the API took it, as for a send;
   * whether the device is awake only a read tells.
   */
  wake(device: DeviceDefinition, signal: AbortSignal): Promise<SendResult>;

  /** Limits the device itself declares beyond the catalogue's (e.g. Home Assistant's min_temp). null: the desired values fit. */
  objection(device: DeviceDefinition, desired: Desired, read: ReadResult): string | null;

  /** Ends what it keeps open. Nothing is read or sent afterwards. */
  close?(): Promise<void>;
}

/** The adapter of a device's connection. Throws for a connection kind that can't be used yet. */
export interface Adapters {
  (device: DeviceDefinition): DeviceAdapter;
}
