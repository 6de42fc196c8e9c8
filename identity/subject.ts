/** Whom a token of the issuer means, whichever kind of token it is: else an owner and a decider could not be compared. */
import type { JWTPayload } from 'jose';
import { subjectAt } from '../domain/approval/person.ts';
import type { Issuer, IssuerMetadata } from './issuer.ts';

/** The claim that every issuer has. */
export const SUB = 'sub';
/** What Temporal's search attributes hold, on every store that it runs on. */
const LONGEST_SUBJECT = 255;

/** Owner of commands and decider in one word (`subjectAt`); null: the token names nobody, or by more than can be kept. */
export function subjectIn(payload: JWTPayload, { url, subjectClaim }: Issuer): string | null {
  const word = payload[subjectClaim];
  if (typeof word !== 'string' || word === '') return null;
  const subject = subjectAt(url, word);
  return subject.length > LONGEST_SUBJECT ? null : subject;
}

/**
 * `sub` is another word for the same person in each application (pairwise, OpenID Connect Core 1.0, 8.1). Then nobody
 * knows that who decides is who asked.
 */
export const hidesWhoIsWho = (
  { subjectClaim }: Issuer,
  { subject_types_supported: types }: IssuerMetadata,
): boolean => subjectClaim === SUB && Array.isArray(types) && types.length > 0 && !types.includes('public');
