/** One adapter a connection, shared by all of its devices: they share its budget as well. */
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import { unsupported } from '../domain/catalogue/support.ts';
import type { Adapters, DeviceAdapter } from './adapter.ts';
import { homeAssistantAdapter } from './home-assistant.ts';
import { httpAdapter } from './http.ts';
import { mqttAdapter } from './mqtt.ts';

/**
 * Opens the connections that devices of the catalogue use. Throws, with one line for each connection that can't be used
 * and the devices that need it, and one for whatever else of a device can't be done yet, before anything is sent to any.
 * `open`: for those who have some of the connections open already.
 */
export function createAdapters(
  catalogue: Catalogue,
  open: (connection: Connection) => DeviceAdapter = openAdapter,
): Adapters {
  const adapters = new Map<string, DeviceAdapter>();
  const problems = Object.values(catalogue.devices).flatMap(unsupported);
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

/** Throws, naming the connection, for what can't be used. */
export function openAdapter(connection: Connection): DeviceAdapter {
  switch (connection.kind) {
    case 'http':
      return httpAdapter(connection);
    case 'home-assistant':
      return homeAssistantAdapter(connection);
    case 'mqtt':
      return mqttAdapter(connection);
  }
}

function devicesByConnection(catalogue: Catalogue): Map<string, string[]> {
  const byConnection = new Map<string, string[]>();
  for (const { id, connection } of Object.values(catalogue.devices)) {
    byConnection.set(connection, [...(byConnection.get(connection) ?? []), id]);
  }
  return byConnection;
}
