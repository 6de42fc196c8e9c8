/** Apart from what uses it, so that whoever only hands it over needn't load the SDK. */
import { hkdfSync } from 'node:crypto';

/** A key for this purpose alone, the same for all that share the key that seals decisions. */
export function requestStateKey(sealKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', sealKey, '', 'readback-request-state-1', 32));
}
