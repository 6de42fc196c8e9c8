/** Checks of the catalogue and of the connections in it. */
import { connect } from 'node:net';
import type { Connection } from '../../domain/catalogue/definition.ts';
import { signInState } from '../../worker/sign-in-state.ts';
import { unusable } from '../../worker/usable.ts';
import { readingWithSecrets } from '../catalogue-file.ts';
import { signInFolder } from '../data-folder.ts';
import { EXIT } from '../failure.ts';
import { readSealKey } from '../seal-key.ts';
import { type Finding, fine, problem, warning } from './finding.ts';

const REACHED_WITHIN_MS = 3_000;
/** Stands for the simulator while no `up` runs one; a name that no resolver knows, by its definition. */
const NO_SIMULATOR = 'http://simulator.invalid';
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'mqtt:': 1883,
  'mqtts:': 8883,
};

/**
 * Reads the catalogue; then tries to reach each connection, sending nothing. `mcp`: of the server that follows this file,
 * where one runs.
 */
export async function checkCatalogue(
  file: string,
  simulatorUrl: string | null,
  mcp: string | null,
  dataDir: string,
): Promise<Finding[]> {
  // Without a running `up` nothing listens for "simulator:", which is no fault of the catalogue.
  const read = await readingWithSecrets(file, simulatorUrl ?? NO_SIMULATOR)();
  if (!read.ok) {
    const mend = `Mend ${file}; its format is described in docs/catalogue.md. What runs already goes on with the one from before.`;
    return [problem('catalogue', EXIT.usage, read.problems.join('\n'), mend)];
  }
  const { catalogue } = read;
  const devices = Object.keys(catalogue.devices).length;
  const used = new Set(Object.values(catalogue.devices).map((device) => device.connection));
  const connections = Object.values(catalogue.connections).filter(({ name }) => used.has(name));
  const problems = unusable(catalogue);
  return [
    ...problems.map((text) => problem('devices', EXIT.usage, text, `Take it out of ${file} for now.`)),
    fine('catalogue', `${file}: ${devices} ${devices === 1 ? 'device' : 'devices'}`),
    ...(mcp === null ? [] : await checkInForce(mcp, catalogue.digest)),
    ...(await Promise.all(connections.map(checkConnection))),
    ...(await checkSignIns(connections, dataDir)),
  ];
}

/** A server that doesn't answer is another check's business. */
async function checkInForce(mcp: string, digest: string): Promise<Finding[]> {
  const check = 'catalogue in force';
  const inForce = await fetch(new URL('/healthz', mcp), { signal: AbortSignal.timeout(REACHED_WITHIN_MS) })
    .then(async (answer) => ((await answer.json()) as { catalogue?: { digest?: string } }).catalogue?.digest)
    .catch(() => undefined);
  if (inForce === undefined) return [];
  if (inForce === digest) return [fine(check, 'the running server works by the file as it is now')];
  const mend = 'If it was not changed in the last two seconds, see the log of `serve`: it says why.';
  return [warning(check, 'the running server works by an earlier one', mend)];
}

async function checkConnection({ name, baseUrl }: Connection): Promise<Finding> {
  const check = `connection ${name}`;
  if (baseUrl.startsWith(NO_SIMULATOR)) return fine(check, 'the simulator, which `readback up` starts');
  const url = new URL(baseUrl);
  const trouble = await reach(
    url.hostname.replace(/^\[|\]$/g, ''),
    Number(url.port) || (DEFAULT_PORTS[url.protocol] ?? 0),
  );
  if (trouble === null) return fine(check, `${url.host} answers`);
  return problem(
    check,
    EXIT.endedBadly,
    `${url.host} can't be reached: ${trouble}`,
    'Is it switched on, in this network, and is its address in the catalogue right?',
  );
}

/** Only what workers of this data folder have kept: nobody signs in for it. */
async function checkSignIns(connections: readonly Connection[], dataDir: string): Promise<Finding[]> {
  const findings = connections
    .filter(({ auth }) => auth.kind !== 'none')
    .map(async (connection): Promise<Finding> => {
      const check = `sign-in of ${connection.name}`;
      try {
        const state = await signInState(connection, signInFolder(dataDir), () => readSealKey(dataDir));
        const { kind, found } = state ?? { kind: 'fine', found: 'none' };
        if (kind === 'fine') return fine(check, found);
        if (kind === 'away') return warning(check, found, 'Is the server that it signs in to there?');
        const mend = 'Do what is said there. With another secret it is tried at once.';
        return problem(check, EXIT.endedBadly, found, mend);
      } catch {
        const mend =
          'Name the data folder of the workers with --data-dir, and give it the same READBACK_SEAL_KEY.';
        return warning(check, `by ${connection.auth.kind}; what workers keep of it can't be read`, mend);
      }
    });
  return await Promise.all(findings);
}

/** null: somebody listens there. */
function reach(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: REACHED_WITHIN_MS });
    const end = (trouble: string | null): void => {
      socket.destroy();
      resolve(trouble);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer within ${REACHED_WITHIN_MS / 1000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
