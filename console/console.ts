/** The operators' console: server-rendered pages at `/` and the same over JSON at `/api`, on the MCP server's port. */
import { Hono } from 'hono';
import { createAccess } from './access.ts';
import { addApi } from './api.ts';
import { addAssets } from './assets.ts';
import type { ConsoleContext, ConsoleParts } from './context.ts';
import { addDecide } from './decide.ts';
import { addEvents } from './events.ts';
import { createFollowedCommands } from './followed-commands.ts';
import { protect } from './headers.ts';
import { addIssuerSignIn } from './issuer-sign-in.ts';
import { createOverview } from './overview.ts';
import { addPages, errorPage } from './page-routes.ts';
import { createSessions } from './session.ts';
import { addSignIn } from './sign-in.ts';

/** Adds the console's routes to an app that checks Host and Origin of every request. */
export function mountConsole(app: Hono, parts: ConsoleParts): { close(): void } {
  const { commands, approvers, sessionKey, signIn, loopback, onError } = parts;
  const inForce = () => JSON.stringify([parts.catalogue().digest, parts.catalogueTrouble()]);
  const console = new Hono();
  protect(console);
  const sessions = createSessions(sessionKey, signIn?.issuer);
  const context: ConsoleContext = {
    ...parts,
    sessions,
    access: createAccess({ approvers, sessions, loopback, hasIssuer: signIn !== null }),
    overview: createOverview(commands, onError, inForce),
    followed: createFollowedCommands(commands, onError),
    assets: addAssets(console),
  };
  for (const add of [addSignIn, addIssuerSignIn, addPages, addDecide, addEvents, addApi])
    add(console, context);
  console.onError((error, c) => errorPage(error, c, context));
  app.route('/', console);
  return {
    close() {
      context.overview.close();
      context.followed.close();
    },
  };
}
