/** What the console's routes work with. */
import type { Approvers } from '../commands/approvers.ts';
import type { Commands } from '../commands/commands.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import type { Access } from './access.ts';
import type { FollowedCommands } from './followed-commands.ts';
import type { OverviewSource } from './overview.ts';
import type { Sessions } from './session.ts';

export interface ConsoleParts {
  readonly commands: Commands;
  readonly approvers: Approvers;
  readonly catalogue: () => Catalogue;
  /** Signs sessions; at least 32 bytes, the same on every server. */
  readonly sessionKey: Uint8Array;
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
