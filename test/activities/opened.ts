/** A catalogue's device with the adapter of its connection, for tests that talk to real servers. */
import assert from 'node:assert/strict';
import type { DeviceAdapter, ReadResult } from '../../activities/adapter.ts';
import { createAdapters, openAdapter, type Shared } from '../../activities/adapters.ts';
import type { DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import type { SendResult } from '../../domain/exchange.ts';
import type { Desired } from '../../domain/values.ts';

export interface Opened {
  readonly device: DeviceDefinition;
  readonly adapter: DeviceAdapter;
  /** A baseline read: nothing is desired yet. */
  read(signal?: AbortSignal): Promise<ReadResult>;
  /** Sends `desired`, all of it by one step of the device; its first, unless said otherwise. */
  send(
    desired: Desired,
    options?: { readonly step?: number; readonly signal?: AbortSignal },
  ): Promise<SendResult>;
}

/** Opens every device of a catalogue in YAML, by its id. */
export async function openAll(
  yaml: string,
  environment: Readonly<Record<string, string>> = {},
  shared: Shared = {},
): Promise<(id: string) => Opened> {
  const loaded = await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems, null, 2));
  const adapters = createAdapters(loaded.catalogue, (connection) => openAdapter(connection, shared));
  return (id) => {
    const device = loaded.catalogue.devices[id];
    assert.ok(device, `no device ${id} in the test's catalogue`);
    const adapter = adapters(device);
    const never = () => new AbortController().signal;
    return {
      device,
      adapter,
      read: (signal = never()) =>
        adapter.read(device, { desired: null, before: null, kept: {}, baselineDeviceAt: null }, signal),
      async send(desired, { step = 0, signal = never() } = {}) {
        const chosen = device.send[step];
        assert.ok(chosen, `${id} has no step ${step}`);
        return adapter.send(device, chosen, desired, {}, { idempotencyKey: 'command-1:0:1', signal });
      },
    };
  };
}
