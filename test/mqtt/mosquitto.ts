/** A real mosquitto on a free loopback port, for the tests in this folder: with accounts, rights and, where asked, TLS. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_WITHIN_MS = 10 * 60_000;
const START_WITHIN_MS = 10_000;
/** Debian keeps servers where an ordinary account's PATH doesn't look. */
const PATH = [process.env['PATH'], '/usr/sbin', '/usr/local/sbin'].join(':');

/** `readback` may use all of zigbee2mqtt's topics and `plain/…`, `visitor` may only read them, `zigbee2mqtt` plays the devices. */
export const PASSWORDS = { readback: 'correct horse', visitor: 'only looking', zigbee2mqtt: 'bridge' };
const RIGHTS = `user readback
topic readwrite zigbee2mqtt/#
topic readwrite plain/#
user visitor
topic read zigbee2mqtt/#
user zigbee2mqtt
topic readwrite zigbee2mqtt/#
topic readwrite plain/#
`;

export interface Mosquitto {
  readonly port: number;
  readonly url: string;
  /** File with the authority that signed its certificate; only with `tls`. */
  readonly ca: string;
  /** What it has logged so far, a line an item. */
  log(): readonly string[];
  start(): Promise<void>;
  /** `SIGKILL`: dead at once; `SIGSTOP`: alive, and says nothing more until `SIGCONT`. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  stop(): Promise<void>;
}

/** Installs mosquitto where it is missing and starts one. Rejects, saying why, where that can't be done: without it nothing is proven. */
export async function startMosquitto({ tls = false }: { tls?: boolean } = {}): Promise<Mosquitto> {
  await install();
  const folder = await mkdtemp(join(tmpdir(), 'readback-mosquitto-'));
  const port = await freePort();
  const passwords = join(folder, 'passwords');
  await writeFile(passwords, '', { mode: 0o600 });
  for (const [name, password] of Object.entries(PASSWORDS))
    await run('mosquitto_passwd', ['-b', passwords, name, password], { env: { ...process.env, PATH } });
  await writeFile(join(folder, 'rights'), RIGHTS, { mode: 0o600 });
  if (tls) await certify(folder);
  const config = join(folder, 'mosquitto.conf');
  await writeFile(
    config,
    `user ${userInfo().username}
listener ${port} 127.0.0.1
${tls ? `certfile ${folder}/server.crt\nkeyfile ${folder}/server.key\n` : ''}allow_anonymous false
password_file ${passwords}
acl_file ${folder}/rights
log_type all
log_dest stderr
`,
  );
  const logged: string[] = [];
  let child: ChildProcess | undefined;
  const killWithUs = (): void => void child?.kill('SIGKILL');
  process.once('exit', killWithUs);

  async function start(): Promise<void> {
    const started = spawn('mosquitto', ['-c', config], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH },
    });
    child = started;
    started.stderr.setEncoding('utf8').on('data', (text: string) => logged.push(...text.split('\n')));
    for (const deadline = Date.now() + START_WITHIN_MS; !(await listens(port)); await sleep(50)) {
      if (started.exitCode !== null || Date.now() > deadline)
        throw new Error(`mosquitto did not start:\n${logged.slice(-20).join('\n')}`);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  await start();
  return {
    port,
    url: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`,
    ca: join(folder, 'ca.crt'),
    log: () => logged,
    start,
    signal: async (signal) => {
      if (signal === 'SIGKILL') await end(signal);
      else child?.kill(signal);
    },
    async stop() {
      await end('SIGKILL');
      process.off('exit', killWithUs);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isInstalled = (): boolean => PATH.split(':').some((folder) => existsSync(join(folder, 'mosquitto')));

/** Test files run at the same time, and only one of them can install at a time: the other finds it there in the end. */
async function install(): Promise<void> {
  let failure: unknown;
  for (const deadline = Date.now() + INSTALL_WITHIN_MS; !isInstalled(); await sleep(3_000)) {
    if (Date.now() > deadline || failure !== undefined) {
      const message =
        'mosquitto is missing and could not be installed: install it (Debian: apt-get install mosquitto)';
      throw new Error(message, { cause: failure });
    }
    failure = await aptGet('install', '-y', '--no-install-recommends', 'mosquitto', 'openssl');
    if (failure === undefined || isInstalled()) return;
    await aptGet('update');
    failure = await aptGet('install', '-y', '--no-install-recommends', 'mosquitto', 'openssl');
    if (/Could not get lock/.test(String(failure))) failure = undefined;
  }
}

/** What went wrong; undefined: nothing. */
async function aptGet(...args: readonly string[]): Promise<unknown> {
  const [command, ...rest] =
    process.getuid?.() === 0 ? (['apt-get'] as const) : (['sudo', '-n', 'apt-get'] as const);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const waiting = ['-o', 'DPkg::Lock::Timeout=300'];
  try {
    await run(command, [...rest, ...waiting, ...args], { timeout: INSTALL_WITHIN_MS, env });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** An authority of its own, and a certificate for 127.0.0.1 signed by it. */
async function certify(folder: string): Promise<void> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  await openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test authority');
  await openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1');
  await writeFile(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1\n');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  await openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.crt', '-extfile', 'names');
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}
