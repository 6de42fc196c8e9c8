/** How a connection stands with its API, as far as workers have kept it: for `doctor`, without secrets. */
import { clock, fingerprintOf } from '../activities/sign-in/session.ts';
import { readSignIn } from '../activities/sign-in/store.ts';
import type { Connection } from '../domain/catalogue/definition.ts';

export interface SignInState {
  /** `signedOut`: commands end refused until somebody does what `found` says. `away`: they wait. */
  readonly kind: 'fine' | 'away' | 'signedOut';
  readonly found: string;
}

/** null: nobody signs in there. Rejects where what is kept can't be read. */
export async function signInState(
  { name, auth }: Pick<Connection, 'name' | 'auth'>,
  folder: string,
  sealKey: () => Uint8Array,
  now: number = Date.now(),
): Promise<SignInState | null> {
  if (auth.kind === 'none') return null;
  const keepsSession =
    auth.kind === 'oauth' || auth.kind === 'login' || (auth.kind === 'sign' && auth.login !== null);
  if (!keepsSession) return fine(`by ${auth.kind}, with each request; nothing is kept of it`);
  const kept = await readSignIn(folder, sealKey, name);
  if (kept === null) return fine(`by ${auth.kind}; not signed in yet, the first request does it`);
  if (kept.fingerprint !== fingerprintOf(auth))
    return fine(`by ${auth.kind}; what the catalogue says of it is new, the next request signs in`);
  const { session, failure } = kept;
  if (failure !== null) {
    const again =
      failure.until > now ? `tried again at ${clock(failure.until)}` : 'tried again by the next request';
    const found = `by ${auth.kind}; ${failure.kind === 'refused' ? 'signed out' : 'could not sign in'} at ${clock(failure.at)}: ${failure.why} (${again})`;
    return { kind: failure.kind === 'refused' ? 'signedOut' : 'away', found };
  }
  if (session === null) return fine(`by ${auth.kind}; the next request signs in`);
  const until = session.expiresAt === null ? '' : `, until ${clock(session.expiresAt)}`;
  return fine(`by ${auth.kind}; signed in at ${clock(session.obtainedAt)}${until}`);
}

const fine = (found: string): SignInState => ({ kind: 'fine', found });
