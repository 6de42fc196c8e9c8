/** The key that seals decisions. Servers and workers share it: READBACK_SEAL_KEY, else the one that `up` keeps in its data folder. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SEAL_KEY_BYTES, sealKeyFrom } from '../domain/approval/seal.ts';
import { EXIT, Failure } from './failure.ts';

const keyFile = (dataDir: string): string => join(dataDir, 'seal.key');

/** Makes the key of `dataDir` where there is none yet. The holder of the folder's lock alone may do this. */
export function ensureSealKey(dataDir: string): void {
  if (process.env.READBACK_SEAL_KEY || existsSync(keyFile(dataDir))) return;
  writeFileSync(keyFile(dataDir), randomBytes(SEAL_KEY_BYTES).toString('base64url'), { mode: 0o600 });
}

/** Throws a `Failure` where there is no key, or no good one. */
export function readSealKey(dataDir: string): Uint8Array {
  const text = process.env.READBACK_SEAL_KEY ?? readKeyFile(dataDir);
  try {
    return sealKeyFrom(text);
  } catch (error) {
    throw new Failure(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}

function readKeyFile(dataDir: string): string {
  try {
    return readFileSync(keyFile(dataDir), 'utf8').trim();
  } catch (error) {
    throw new Failure(
      EXIT.usage,
      `There is no key to seal decisions with: READBACK_SEAL_KEY is not set, and ${keyFile(dataDir)} can't be read. ` +
        'Servers and workers need the same one, at least 32 random bytes: openssl rand -base64 32',
      error,
    );
  }
}
