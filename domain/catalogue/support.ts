/** What a catalogue may describe already, and this version can't do yet. Starting with it is refused by name, never ignored. */
import type { Catalogue, Connection, DeviceDefinition, RequestTemplate } from './definition.ts';

export interface Unsupported {
  readonly device: string;
  /** e.g. `its connection "cars" signs in by oauth`. */
  readonly what: string;
}

/** Each device that needs something of the kind; empty: all of the catalogue can be used. */
export function unsupported(catalogue: Catalogue): readonly Unsupported[] {
  return Object.values(catalogue.devices).flatMap((device) => {
    const connection = catalogue.connections[device.connection];
    return [...(connection ? ofConnection(connection) : []), ...ofDevice(device)].map((what) => ({
      device: device.id,
      what,
    }));
  });
}

function ofConnection({ name, auth }: Connection): readonly string[] {
  if (['digest', 'sign', 'oauth', 'login'].includes(auth.kind))
    return [`its connection ${JSON.stringify(name)} signs in by ${auth.kind}`];
  return [];
}

function ofDevice(device: DeviceDefinition): readonly string[] {
  return [
    ...(device.send.some(({ request }) => usesSecret(request))
      ? ['its requests hold a secret ("$secret")']
      : []),
  ];
}

const usesSecret = ({ body }: RequestTemplate): boolean => JSON.stringify(body).includes('$secret');
