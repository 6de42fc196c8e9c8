/** What the console's routes work with. */
import type { Approvers } from '../commands/approvers.ts';
import type { Commands } from '../commands/commands.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import type { OpenIdConnect } from '../identity/openid-connect.ts';
import type { Access } from './access.ts';
import type { FollowedCommands } from './followed-commands.ts';
import type { OverviewSource } from './overview.ts';
import type { Sessions } from './session.ts';

export interface ConsoleParts {
  readonly commands: Commands;
  readonly approvers: Approvers;
  readonly catalogue: () => Catalogue;
  /** What is wrong with the catalogue's files as they are now, so that an earlier one is in force; null: nothing. */
  readonly catalogueTrouble: () => readonly string[] | null;
  /** Signs sessions; at least 32 bytes, the same on every server. */
  readonly sessionKey: Uint8Array;
  /** Where people sign in; null: nowhere, an approver's secret is the only way in. */
  readonly signIn: OpenIdConnect | null;
  /** Where people reach the console, as the issuer knows it: it sends them back to `sign-in/callback` there. */
  readonly consoleUrl: () => string;
  /** Is the server reachable from this machine only? Then, as long as there are no approvers, anybody may look. */
  readonly loopback: boolean;
  /** null: where it is isn't known. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** For the log. */
  readonly onError: (error: Error) => void;
}

export interface ConsoleContext extends ConsoleParts {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly overview: OverviewSource;
  readonly followed: FollowedCommands;
  /** Version of style and script. */
  readonly assets: string;
}
