/**
 * Who may decide approvals: names, and of each person's secret only a hash, in one file that servers and the command
 * line share.
 *
 * The secret is 140 random bits that Readback makes, never a password that somebody chose. Nobody can guess through
 * 2^140 of them however fast the hash is, so it is a keyed SHA-256 with a salt for each person. A slow hash would add
 * nothing but a way to keep a server busy with wrong secrets.
 */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { INVISIBLE, samePerson } from '../domain/approval/person.ts';
import { plain } from '../domain/text.ts';
import { InputError } from './commands.ts';

export interface Approver {
  readonly name: string;
  /** ISO 8601 */
  readonly addedAt: string;
  /** Changes when the same name is removed and added again, so that what was given to the former one is void. */
  readonly fingerprint: string;
  /** Who they are to the issuer of sign-ins (`subjectAt`); null: they don't sign in there. */
  readonly subject: string | null;
}

export interface Approvers {
  readonly file: string;
  /** In the order in which they were added. A file that isn't there holds nobody. */
  list(): readonly Approver[];
  /** The secret, which is not kept anywhere. Throws `InputError` for a name that can't be one, and where name or subject is taken. */
  add(name: string, subject?: string | null): string;
  /** Their secret and sessions count no more. false: nobody of that name. */
  remove(name: string): boolean;
  /** Whose secret it is; null: nobody's. Takes as long for a right one as for a wrong one. */
  identify(secret: string): Approver | null;
}

const ENTRY = z.object({
  name: z.string(),
  addedAt: z.string(),
  salt: z.string(),
  hash: z.string(),
  subject: z.string().optional(),
});
const FILE = z.object({ version: z.literal(1), approvers: z.array(ENTRY) });
type Entry = z.infer<typeof ENTRY>;

const LONGEST_NAME = 64;
/** Whoever sends commands without signing in is called so: an approver of that name would approve their own. */
const NOBODYS_NAME = 'local';

/** Every call reads the file, so that all processes know at once who was added or removed. */
export function openApprovers(file: string): Approvers {
  return {
    file,
    list: () => read(file).map(asApprover),
    add(wanted, subject = null) {
      const name = checkedName(wanted);
      const secret = newSecret();
      const salt = randomBytes(16).toString('base64url');
      const hash = hashOf(secret, salt).toString('base64url');
      change(file, (entries) => {
        if (entries.some((entry) => samePerson(entry.name, name)))
          throw new InputError(
            `There is an approver "${name}" already. Remove that one first, or choose another name.`,
          );
        const same = subject === null ? undefined : entries.find((entry) => entry.subject === subject);
        if (same !== undefined)
          throw new InputError(`${subject} is the approver "${same.name}" already. Nobody was added.`);
        const entry = { name, addedAt: new Date().toISOString(), salt, hash };
        return [...entries, subject === null ? entry : { ...entry, subject }];
      });
      return secret;
    },
    remove(name) {
      let removed = false;
      change(file, (entries) => {
        const rest = entries.filter((entry) => !samePerson(entry.name, name));
        removed = rest.length < entries.length;
        return rest;
      });
      return removed;
    },
    identify(secret) {
      const given = secret.slice(0, 200);
      let found: Entry | null = null;
      for (const entry of read(file)) {
        const expected = Buffer.from(entry.hash, 'base64url');
        const hash = hashOf(given, entry.salt);
        if (expected.length === hash.length && timingSafeEqual(expected, hash)) found = entry;
      }
      return found === null ? null : asApprover(found);
    },
  };
}

const asApprover = ({ name, addedAt, hash, subject }: Entry): Approver => ({
  name,
  addedAt,
  fingerprint: hash,
  subject: subject ?? null,
});

function checkedName(wanted: string): string {
  const name = wanted.normalize('NFC');
  if (name === '' || name !== plain(name, LONGEST_NAME) || name !== name.replace(INVISIBLE, ''))
    throw new InputError(
      `An approver's name has 1 to ${LONGEST_NAME} visible characters, without space at its ends. Nobody was added.`,
    );
  if (samePerson(name, NOBODYS_NAME))
    throw new InputError(
      `"${NOBODYS_NAME}" is what commands are from where nobody signs in, so nobody may be called that. Choose another name.`,
    );
  return name;
}

/** Crockford's base 32: no letter that is taken for a digit, and none that makes rude words. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const GROUPS = 7;
const GROUP_LENGTH = 4;

/** `k3vf-0m9a-…`: 28 characters of 5 bits. */
function newSecret(): string {
  const group = (): string =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** As people type it: in capitals, without the dashes, with the letter O for the digit. */
const spelled = (secret: string): string =>
  secret.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');

const hashOf = (secret: string, salt: string): Buffer =>
  createHmac('sha256', `readback-approver-1/${salt}`).update(spelled(secret)).digest();

function read(file: string): readonly Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw new InputError(`The approvers' file ${file} can't be read (${codeOf(error)}).`, { cause: error });
  }
  try {
    return FILE.parse(JSON.parse(text)).approvers;
  } catch (error) {
    throw new InputError(
      `${file} is no file of approvers. Restore it, or remove it and add the approvers again.`,
      { cause: error },
    );
  }
}

/**
 * Replaces the file in one step, so that readers see the old or the new one, never a part. The draft is the lock as
 * well: of two that change the file at once, one is told to try again.
 */
function change(file: string, change: (entries: readonly Entry[]) => readonly Entry[]): void {
  const draft = `${file}.new`;
  let handle: number;
  try {
    handle = openSync(draft, 'wx', 0o600);
  } catch (error) {
    throw isCode(error, 'EEXIST')
      ? new InputError(
          `Somebody else changes the approvers just now: ${draft} is there. Try again; if nobody does, remove that file.`,
        )
      : new InputError(`${draft} can't be written (${codeOf(error)}). Nothing was changed.`, {
          cause: error,
        });
  }
  try {
    const approvers = change(read(file));
    writeFileSync(handle, `${JSON.stringify({ version: 1, approvers }, null, 2)}\n`);
    fsyncSync(handle);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
const isCode = (error: unknown, code: string): boolean => codeOf(error) === code;
