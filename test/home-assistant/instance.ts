/** A real Home Assistant with its demo devices, on a free loopback port, for the tests in this folder. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WebSocket } from 'undici';

const SCRIPT = fileURLToPath(new URL('../peers/home-assistant.sh', import.meta.url));
/** Installing takes about a minute with a normal network, a start 11–15 s on two cores. */
const INSTALL_WITHIN_MS = 15 * 60_000;
const START_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 20_000;

export interface HomeAssistant {
  readonly baseUrl: string;
  /** Its owner's access token. */
  readonly token: string;
  /** The instance's own view of an entity, past Readback. */
  state(entity: string): Promise<{ state: string; attributes: Record<string, unknown> }>;
  /** Calls a service past Readback, e.g. to put a device into a known state. */
  call(service: string, data: Readonly<Record<string, unknown>>): Promise<void>;
  /** Makes an area and puts an entity into it, as people do in its settings. */
  putIntoArea(entity: string, area: string): Promise<void>;
  stop(): Promise<void>;
}

/** Installs Home Assistant where it is missing and starts it. Rejects, with the end of its log, where that can't be done. */
export async function startHomeAssistant(
  units: 'metric' | 'us_customary' = 'metric',
): Promise<HomeAssistant> {
  const dir = join(
    process.env['READBACK_TEST_HOME'] ?? join(homedir(), '.cache', 'readback-test'),
    'home-assistant',
  );
  await promisify(execFile)(SCRIPT, ['install', dir], { timeout: INSTALL_WITHIN_MS });

  const config = await mkdtemp(join(tmpdir(), 'readback-home-assistant-'));
  const port = await freePort();
  // The script replaces itself by Home Assistant: the child's process id is the server's own.
  const child = spawn(SCRIPT, ['serve', dir, config, String(port), units], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  // A test file that takes too long is ended by a signal, which runs no exit handlers by itself.
  const exitWithFailure = () => process.exit(1);
  process.once('SIGTERM', exitWithFailure);
  const baseUrl = `http://127.0.0.1:${port}`;

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    const ended = await Promise.race([exited.then(() => true), sleep(STOP_WITHIN_MS, false, { ref: false })]);
    if (!ended) child.kill('SIGKILL');
    await exited;
    process.off('exit', killWithUs);
    process.off('SIGTERM', exitWithFailure);
    await rm(config, { recursive: true, force: true, maxRetries: 3 });
  }

  async function api(path: string, init: RequestInit = {}): Promise<unknown> {
    const token = (await readFile(join(config, 'token'), 'utf8')).trim();
    const response = await fetch(`${baseUrl}/api/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok)
      throw new Error(`Home Assistant answered ${response.status} to /api/${path}: ${await response.text()}`);
    return response.json();
  }

  const deadline = Date.now() + START_WITHIN_MS;
  while (!(await isRunning(api))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      const log = await readFile(join(config, 'home-assistant.log'), 'utf8').catch(() => '(no log)');
      await stop();
      throw new Error(
        `Home Assistant did not start (exit code ${child.exitCode}). End of its log:\n${log.slice(-3000)}`,
      );
    }
    await sleep(250);
  }
  const token = (await readFile(join(config, 'token'), 'utf8')).trim();
  return {
    baseUrl,
    token,
    state: async (entity) =>
      (await api(`states/${entity}`)) as { state: string; attributes: Record<string, unknown> },
    call: async (service, data) => {
      await api(`services/${service.replace('.', '/')}`, { method: 'POST', body: JSON.stringify(data) });
    },
    async putIntoArea(entity, area) {
      const { area_id: id } = await webSocketCommand(baseUrl, token, {
        type: 'config/area_registry/create',
        name: area,
      });
      await webSocketCommand(baseUrl, token, {
        type: 'config/entity_registry/update',
        entity_id: entity,
        area_id: id,
      });
    },
    stop,
  };
}

/** One command over the WebSocket API, which knows what the REST API doesn't. */
async function webSocketCommand(
  baseUrl: string,
  token: string,
  command: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/api/websocket`);
  try {
    return await new Promise((resolve, reject) => {
      socket.addEventListener('error', () => reject(new Error('no WebSocket to Home Assistant')));
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data)) as {
          type: string;
          success?: boolean;
          result?: Record<string, unknown>;
        };
        if (message.type === 'auth_required')
          socket.send(JSON.stringify({ type: 'auth', access_token: token }));
        else if (message.type === 'auth_ok') socket.send(JSON.stringify({ id: 1, ...command }));
        else if (message.type === 'result' && message.success === true) resolve(message.result ?? {});
        else reject(new Error(`Home Assistant answered ${JSON.stringify(message)}`));
      });
    });
  } finally {
    socket.close();
  }
}

async function isRunning(api: (path: string) => Promise<unknown>): Promise<boolean> {
  try {
    const config = (await api('config')) as { state?: string };
    return config.state === 'RUNNING';
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}
