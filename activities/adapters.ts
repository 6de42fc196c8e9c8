/** One adapter a connection, shared by all of its devices: they share its budget as well. */
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import type { Adapters, DeviceAdapter } from './adapter.ts';
import type { Lender } from './borrowing.ts';
import { homeAssistantAdapter } from './home-assistant.ts';
import { httpAdapter } from './http.ts';
import { openHttpConnection } from './http-connection.ts';
import { mqttAdapter } from './mqtt.ts';
import type { SignInStore } from './sign-in/store.ts';

/**
 * Opens the connections that devices of the catalogue use. Throws, with one line for each connection that can't be used
 * and the devices that need it, before anything is sent to any.
 * `open`: for those who have some of the connections open already.
 */
export function createAdapters(
  catalogue: Catalogue,
  open: (connection: Connection) => DeviceAdapter = (connection) => openAdapter(connection),
): Adapters {
  const adapters = new Map<string, DeviceAdapter>();
  const problems: string[] = [];
  for (const [name, devices] of devicesByConnection(catalogue)) {
    try {
      adapters.set(name, open(connectionNamed(catalogue, name)));
    } catch (error) {
      problems.push(
        `${error instanceof Error ? error.message : String(error)} (needed by ${devices.join(', ')})`,
      );
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return (device) => {
    const adapter = adapters.get(device.connection);
    if (adapter === undefined)
      throw new Error(`device "${device.id}": no connection "${device.connection}" is open`);
    return adapter;
  };
}

function connectionNamed({ connections }: Catalogue, name: string): Connection {
  const connection = connections[name];
  if (connection === undefined) throw new Error(`connection "${name}" is not in the catalogue`);
  return connection;
}

/** What the connections of all workers have in common. Left out: each connection's own. */
export interface Shared {
  /** Who keeps the budget of the connection of this name. */
  readonly lenderOf?: ((connection: string) => Lender) | undefined;
  readonly signIns?: SignInStore | undefined;
}

/** Throws, naming the connection, for what can't be used. */
export function openAdapter(connection: Connection, { lenderOf, signIns }: Shared = {}): DeviceAdapter {
  const lender = lenderOf?.(connection.name);
  switch (connection.kind) {
    case 'http':
      return httpAdapter(connection, openHttpConnection(connection, { lender, signIns }));
    case 'home-assistant':
      return homeAssistantAdapter(connection, openHttpConnection(connection, { lender, signIns }));
    case 'mqtt':
      return mqttAdapter(connection, lender);
  }
}

function devicesByConnection(catalogue: Catalogue): Map<string, string[]> {
  const byConnection = new Map<string, string[]>();
  for (const { id, connection } of Object.values(catalogue.devices)) {
    byConnection.set(connection, [...(byConnection.get(connection) ?? []), id]);
  }
  return byConnection;
}
