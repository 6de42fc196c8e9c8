/**
 * Where what was got by signing in is kept: tokens that must survive a restart, and which all workers of a data folder
 * share. Temporal is no place for them, since a history is for everybody who may look. See docs/decisions.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';

export interface Session {
  readonly token: string;
  /** Epoch ms. */
  readonly obtainedAt: number;
  /** Epoch ms; null: not known. */
  readonly expiresAt: number | null;
  /** How many sessions in a row were of no use to the API that had just given them. */
  readonly unhelpful: number;
}

export interface Failure {
  /** `refused`: the sign-in itself was turned down. `away`: it could not be made. */
  readonly kind: 'refused' | 'away';
  /** Without secrets; where it was refused, with what to do. */
  readonly why: string;
  /** Epoch ms. */
  readonly at: number;
  /** Not tried again before, epoch ms. */
  readonly until: number;
  /** In a row. */
  readonly count: number;
}

export interface SignIn {
  /** Of the secrets in the catalogue: with others, the session and the failure are void. */
  readonly fingerprint: string;
  /** Of the catalogue's refresh token, which `refreshToken` descends from. null: there is none. */
  readonly lineage: string | null;
  readonly session: Session | null;
  /** The one that the next refresh needs, where the API changes it with each. */
  readonly refreshToken: string | null;
  readonly failure: Failure | null;
}

export interface SignInStore {
  /** Throws where nothing can be kept: a token that is changed and then lost locks us out. */
  check(connection: string): void;
  read(connection: string): Promise<SignIn | null>;
  /** Replaces what is kept by what `change` makes of it, one after the other among all that share the store. */
  change(connection: string, change: (kept: SignIn | null) => Promise<SignIn>): Promise<SignIn>;
}

/** Forgets everything with the process. */
export function memorySignIns(): SignInStore {
  const kept = new Map<string, SignIn>();
  const inTurn = createTurns();
  return {
    check: () => undefined,
    read: async (connection) => kept.get(connection) ?? null,
    change: (connection, change) =>
      inTurn(connection, async () => {
        const next = await change(kept.get(connection) ?? null);
        kept.set(connection, next);
        return next;
      }),
  };
}

/** Whoever lives touches its lock twice in that time, however long a sign-in takes. */
const LOCK_IS_STALE_AFTER_MS = 10_000;
/** Until a dead one's lock is stale, and in time to say that nothing was sent: a send with short time-outs has 25 s in all. */
const LOCK_RETRIES = { retries: 150, factor: 1, minTimeout: 100, maxTimeout: 100 };

/** One encrypted file a connection. Makes the folder when somebody needs it. */
export function fileSignIns(folder: string, sealKey: Uint8Array): SignInStore {
  const key = keyFrom(sealKey);
  const fileOf = (connection: string): string => join(folder, connection);
  const inTurn = createTurns();
  /** What could not be written is at least not forgotten by this worker. */
  const unwritten = new Map<string, SignIn>();
  async function read(connection: string): Promise<SignIn | null> {
    const ours = unwritten.get(connection);
    if (ours !== undefined) return ours;
    return await readFrom(fileOf(connection), () => key, connection);
  }

  async function keep(connection: string, signIn: SignIn): Promise<void> {
    try {
      await write(fileOf(connection), sealed(signIn, key, connection));
      unwritten.delete(connection);
    } catch (error) {
      unwritten.set(connection, signIn);
      process.emitWarning(
        `The sign-in of connection "${connection}" can't be kept in ${folder} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}): when this worker stops it is lost, and may have to be made anew by hand.`,
      );
    }
  }

  return {
    check(connection) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        accessSync(folder, constants.W_OK);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
        throw new Error(
          `connection "${connection}": its sign-in can't be kept in ${folder} (${code}): make it writable, or name another data folder`,
          { cause: error },
        );
      }
    },
    read,
    change: (connection, change) =>
      inTurn(connection, async () => {
        const release = await lock(fileOf(connection), {
          realpath: false,
          stale: LOCK_IS_STALE_AFTER_MS,
          retries: LOCK_RETRIES,
          // Somebody took it for dead and took over: what we get now is no better than what they get.
          onCompromised: () => undefined,
        });
        try {
          const kept = await read(connection);
          const next = await change(kept);
          if (next !== kept) await keep(connection, next);
          return next;
        } finally {
          await release().catch(() => undefined);
        }
      }),
  };
}

/** What `fileSignIns` keeps of a connection, for those who only look. Rejects where it is there and can't be read. */
export const readSignIn = (
  folder: string,
  sealKey: () => Uint8Array,
  connection: string,
): Promise<SignIn | null> => readFrom(join(folder, connection), () => keyFrom(sealKey()), connection);

const keyFrom = (sealKey: Uint8Array): Uint8Array =>
  Buffer.from(hkdfSync('sha256', sealKey, '', 'readback sign-ins', 32));

async function readFrom(file: string, key: () => Uint8Array, connection: string): Promise<SignIn | null> {
  try {
    return opened(await readFile(file), key(), connection);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** In one step, so that a reader sees the old or the new one. */
async function write(file: string, content: Buffer): Promise<void> {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

function sealed(signIn: SignIn, key: Uint8Array, connection: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(connection));
  const content = Buffer.concat([cipher.update(JSON.stringify(signIn), 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]);
}

/** null: sealed with another key, or damaged. Then it is of no use, and we sign in anew. */
function opened(content: Buffer, key: Uint8Array, connection: string): SignIn | null {
  try {
    const decipher = createDecipheriv(CIPHER, key, content.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(connection))
      .setAuthTag(content.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(content.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as SignIn;
  } catch {
    return null;
  }
}

/** Lets the changes of one connection wait for each other. */
function createTurns(): <Result>(name: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    return await turn;
  };
}
