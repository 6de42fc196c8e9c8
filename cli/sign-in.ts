/** Where agents and people sign in, and what it means for a start when that is nowhere. */
import { isSubjectAt } from '../domain/approval/person.ts';
import { plain } from '../domain/text.ts';
import type { OpenIdConnect } from '../identity/openid-connect.ts';
import type { AuthOptions } from '../mcp-server/authorization.ts';
import { approversOf, isLoopback } from './approvers-file.ts';
import { EXIT, Failure } from './failure.ts';
import {
  ANY_ADDRESS,
  type ApproversFlags,
  type AuthFlags,
  type ConsoleFlags,
  type ListenFlags,
} from './flags.ts';
import { secretVariable } from './secret-variable.ts';

const LONGEST_NAME = 64;
/** Of those that a warning names. */
const MOST_NAMES = 10;

type SignInFlags = ApproversFlags & AuthFlags & ConsoleFlags & Pick<ListenFlags, 'host'>;

/**
 * Whoever reaches a server where nobody signs in may command every device: only this machine may reach it then. Throws a
 * `Failure` that says what to set; `warn` is told where somebody insists.
 */
export function requireSignIn(flags: SignInFlags, warn: (text: string) => void): void {
  const { authIssuer, anyoneMayCommand, host } = flags;
  if (flags.consoleClientId !== undefined && authIssuer === undefined)
    throw new Failure(
      EXIT.usage,
      '--console-client-id is what an issuer knows the console by, and there is no issuer. Nothing was started. Say where people sign in with --auth-issuer.',
    );
  if (authIssuer !== undefined) {
    if (ANY_ADDRESS.includes(host) && flags.consoleUrl === undefined && flags.authAudience === undefined)
      throw new Failure(
        EXIT.usage,
        `With --auth-issuer, tokens have to be for this server's public URL, which ${host} doesn't tell. Nothing was started. ` +
          'Say it with --console-url, e.g. https://readback.example.com/, or with --auth-audience.',
      );
    if (flags.consoleClientId !== undefined && !isAtTheTop(flags.consoleUrl))
      throw new Failure(
        EXIT.usage,
        `People sign in to a console that is at the top of its host, and --console-url ${flags.consoleUrl} is below it. Nothing was started. Give it a host name of its own.`,
      );
    warnOfTwoFaces(authIssuer, flags, warn);
    return;
  }
  if (isLoopback(host)) return;
  if (!anyoneMayCommand)
    throw new Failure(
      EXIT.usage,
      `${host} can be reached from other machines, and nobody signs in: whoever reaches it could command every device. ` +
        'Nothing was started. Say with --auth-issuer where agents sign in (docs/authentication.md), or listen on 127.0.0.1. ' +
        'Where something else keeps strangers out, --anyone-may-command says that you mean it.',
    );
  warn(
    `WARNING: ${host} can be reached from other machines, and nobody signs in. Whoever reaches it may command every device.`,
  );
}

const isAtTheTop = (consoleUrl: string | undefined): boolean =>
  consoleUrl === undefined || new URL(consoleUrl).pathname === '/';

/** Whoever is one person by their secret and another one to the issuer could approve what they asked for. */
function warnOfTwoFaces(issuer: string, flags: ApproversFlags, warn: (text: string) => void): void {
  const names = approversOf(flags)
    .list()
    .filter(({ subject }) => subject === null || !isSubjectAt(issuer, subject))
    .map(({ name }) => plain(name, LONGEST_NAME));
  if (names.length === 0) return;
  const some = names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ', …' : '');
  warn(
    `WARNING: Nothing says who these approvers are to ${issuer}: ${some}. Those of them whose agents sign in could approve what these ask for: remove them, and add them again with --subject.`,
  );
}

/** undefined: nobody signs in. `consoleUrl` is asked for at each request, since a free port is known late. */
export async function authOf(
  { authIssuer, authAudience, authSubjectClaim: subjectClaim }: AuthFlags,
  consoleUrl: () => string | null,
): Promise<AuthOptions | undefined> {
  if (authIssuer === undefined) return undefined;
  const { openIssuer } = await import('../identity/issuer.ts');
  const issuer = openIssuer(authIssuer, subjectClaim === undefined ? {} : { subjectClaim });
  return { issuer, audience: () => authAudience ?? mcpBeside(consoleUrl()) };
}

/** Where people sign in to the console; null: nowhere, an approver's secret is the only way in. */
export async function consoleSignInOf(
  { consoleClientId: clientId }: AuthFlags,
  auth: AuthOptions | undefined,
): Promise<OpenIdConnect | null> {
  if (clientId === undefined || auth === undefined) return null;
  const { openIdConnect } = await import('../identity/openid-connect.ts');
  const clientSecret = secretVariable('READBACK_CONSOLE_CLIENT_SECRET');
  return openIdConnect({ issuer: auth.issuer, clientId, clientSecret });
}

/** The public URL of `/mcp`, where the console is reached at this one. */
function mcpBeside(consoleUrl: string | null): string {
  if (consoleUrl === null) throw new Error('asked for the audience before anything listened');
  return new URL('mcp', consoleUrl.endsWith('/') ? consoleUrl : `${consoleUrl}/`).href;
}

/**
 * Tells early what would be told to everybody who signs in. The issuer may start after this server, so it is no reason
 * not to.
 */
export async function tryIssuer(
  { issuer }: AuthOptions,
  signIn: OpenIdConnect | null,
  warn: (text: string) => void,
): Promise<void> {
  try {
    await issuer.metadata();
    await signIn?.check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    warn(`Nobody can sign in for now: ${why}`);
  }
}
