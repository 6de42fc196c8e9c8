/** What activities are given, instead of finding it themselves. */
import type { Client } from '@temporalio/client';
import type { Catalogue, DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { Adapters } from './adapter.ts';
import type { Webhook } from './webhook.ts';

export interface ActivityDependencies {
  /** The same from the beginning of an activity to its end, and `adapters` with it. */
  readonly catalogue: () => Catalogue;
  readonly adapters: Adapters;
  /** Another catalogue has come into force since this activity began. */
  readonly isOutdated: () => boolean;
  /** For the lane's turn, the one thing here that concerns other workflows. */
  readonly client: Client;
  /** Shared by all workers and servers; seals decisions. */
  readonly sealKey: Uint8Array;
  /** null: the catalogue has none. */
  readonly webhook: Webhook | null;
  /** Where people decide approvals, for links; null: not known. */
  readonly consoleUrl: string | null;
}

/** The device as this worker's catalogue has it; undefined where another catalogue was used to accept the command. */
export function deviceOf({ catalogue }: ActivityDependencies, id: string): DeviceDefinition | undefined {
  const { devices } = catalogue();
  return Object.hasOwn(devices, id) ? devices[id] : undefined;
}

/** Of one request to this device, in milliseconds. */
export function timeoutOf({ catalogue }: ActivityDependencies, device: DeviceDefinition): number {
  return catalogue().connections[device.connection]?.timeoutMs ?? DEFAULT_TIMEOUT_MS;
}

/** Where the connection is gone from the catalogue meanwhile: the loader's own default. */
const DEFAULT_TIMEOUT_MS = 10_000;
