/** `readback doctor --client`: what the user's own host declares, and what it really shows. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { reportJson, reportText } from '../../mcp-server/client-check/report.ts';
import type { Seen } from '../../mcp-server/client-check/seen.ts';
import { clientCheckService } from '../../mcp-server/client-check/service.ts';
import { createMcpApp, serveHttp } from '../../mcp-server/http.ts';
import { serveOverStdio } from '../../mcp-server/stdio.ts';

export interface ClientCheckFlags {
  readonly stdio: boolean;
  readonly json: boolean;
  readonly host: string;
  /** null: any free one. */
  readonly port: number | null;
  readonly waitMs: number;
}

const PROMPT = 'Call check_client and follow what it says until it reports.';

/** Serves the check until it is stopped, then prints what was seen: on stdout, or, where that is MCP's, on stderr. */
export async function checkClients(flags: ClientCheckFlags): Promise<void> {
  const log = pino({ base: null, level: 'warn' }, pino.destination({ fd: 2, sync: true }));
  const clients = new Set<Seen>();
  const page = `/opened/${randomBytes(16).toString('hex')}`;
  const pages = { url: '', openedAt: (): number | null => openedAt };
  let openedAt: number | null = null;
  const service = clientCheckService({
    pages,
    patienceMs: flags.waitMs,
    changed: (seen) => void clients.add(seen),
    onError: (error) => log.error({ err: error }, 'a request failed'),
  });
  const http = createMcpApp(service);
  http.app.get(page, (c) => {
    openedAt ??= Date.now();
    return c.text('Readback has seen that this page was opened. You can close it.\n');
  });
  // Over stdio too: a page to open has to be somewhere.
  const server = await serveHttp(http, { host: flags.host, port: flags.stdio ? 0 : (flags.port ?? 0) });
  pages.url = `${server.url}${page}`;
  const say = (text: string): void => void (flags.stdio ? process.stderr : process.stdout).write(text);
  const stdio = flags.stdio ? serveOverStdio(service) : null;
  if (!flags.json) say(flags.stdio ? '' : invitation(`${server.url}/mcp`));
  else if (!flags.stdio) say(`${JSON.stringify({ ready: true, mcp: `${server.url}/mcp` })}\n`);
  await stopped(flags.stdio);
  await stdio?.close();
  await server.close();
  const seen = [...clients];
  if (flags.json) say(`${JSON.stringify({ clients: seen.map(reportJson) })}\n`);
  else say(seen.length === 0 ? 'No client called check_client.\n' : `\n${seen.map(reportText).join('\n')}`);
}

const invitation = (
  url: string,
): string => `Add this MCP server to your host (HTTP, no sign-in), and start a conversation in it:

  ${url}

For a host that starts its servers itself: readback doctor --client --stdio

Then tell it: ${PROMPT}
Answer what it asks you. Ctrl-C ends this and prints what was seen.
`;

/** By Ctrl-C; or, over stdio, by the host. */
function stopped(stdio: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
    if (stdio) for (const event of ['end', 'close'] as const) process.stdin.once(event, resolve);
  });
}
