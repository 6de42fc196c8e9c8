/** Seals a decision with a key that servers and workers share, so that nothing else can decide an approval. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type DecisionToSeal, type Seal, sealedText } from './decision.ts';

/** A key shorter than the hash would be the weakest part. */
export const SEAL_KEY_BYTES = 32;

export function seal(key: Uint8Array, decision: DecisionToSeal): Seal {
  const nonce = randomBytes(16).toString('base64url');
  return { nonce, mac: macOf(key, decision, nonce) };
}

/** false for a seal by another key, for another decision. */
export function sealMatches(key: Uint8Array, decision: DecisionToSeal, { nonce, mac }: Seal): boolean {
  const expected = Buffer.from(macOf(key, decision, nonce));
  const given = Buffer.from(mac);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Of 32 random bytes hardly ever fewer differ; of a word that is repeated, or of nothing but zeros, always. */
const DIFFERENT_BYTES = 16;

/** Throws where the text isn't base64 or base64url of at least 32 bytes, or not of random ones. */
export function sealKeyFrom(text: string): Uint8Array {
  const key = Buffer.from(text, 'base64url');
  const isRandom = new Set(key).size >= DIFFERENT_BYTES;
  if (key.length < SEAL_KEY_BYTES || !isRandom) {
    throw new Error(
      `READBACK_SEAL_KEY must be at least ${SEAL_KEY_BYTES} random bytes in base64url, e.g. from: openssl rand -base64 32. ` +
        'Whoever guesses it can decide every approval.',
    );
  }
  return key;
}

const macOf = (key: Uint8Array, decision: DecisionToSeal, nonce: string): string =>
  createHmac('sha256', key).update(sealedText(decision, nonce)).digest('base64url');
