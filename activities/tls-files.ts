/** The files of a connection's `tls`, read when it is opened. */
import { readFileSync } from 'node:fs';
import type { Connection } from '../domain/catalogue/definition.ts';
import type { TlsTrust } from './http-request.ts';

/** Throws, naming the connection and the file, where one can't be read. */
export function trustOf({ name, tls }: Connection): TlsTrust {
  const read = (key: 'ca' | 'cert' | 'key'): string | undefined => {
    const path = tls?.[key] ?? null;
    if (path === null) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`connection "${name}": its tls.${key} file ${path} can't be read`, { cause: error });
    }
  };
  return { ca: read('ca'), cert: read('cert'), key: read('key'), insecure: tls?.insecure ?? false };
}
