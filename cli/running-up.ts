/** What the other commands take from a running `up`, where flags and variables say nothing. */
import { resolve } from 'node:path';
import { catalogueFile } from './catalogue-path.ts';
import { type Holder, runningUp } from './data-folder.ts';
import { EXIT, Failure } from './failure.ts';
import type { EngineFlags } from './flags.ts';

/** Where Temporal is and what the devices are: all that is needed to work with commands. */
export interface Engine {
  readonly address: string;
  readonly namespace: string;
  /** Absolute path. */
  readonly catalogueFile: string;
  readonly simulatorUrl: string | null;
  readonly dataDir: string;
  /** Of the running `up`; null where none runs. */
  readonly consoleUrl: string | null;
}

/** Flags and variables first, then the `up` that runs on the data folder. Throws a `Failure` (3) when neither names a Temporal. */
export function findEngine(flags: EngineFlags): Engine {
  const up = runningUp(resolve(flags.dataDir));
  const address = flags.temporal ?? up?.ready?.temporal;
  if (address === undefined) throw noTemporal(flags.dataDir, up);
  return {
    address,
    namespace: flags.namespace ?? up?.ready?.namespace ?? 'default',
    catalogueFile: flags.catalogue === undefined && up ? up.catalogue : catalogueFile(flags.catalogue),
    simulatorUrl: flags.simulatorUrl ?? up?.simulatorUrl ?? null,
    dataDir: resolve(flags.dataDir),
    consoleUrl: up?.ready?.console ?? null,
  };
}

function noTemporal(dataDir: string, up: Holder | undefined): Failure {
  if (up)
    return new Failure(
      EXIT.noTemporal,
      `readback up (process ${up.pid}) is still starting. Try again in a moment.`,
    );
  return new Failure(
    EXIT.noTemporal,
    `No \`readback up\` runs on the data folder ${resolve(dataDir)}, and no Temporal was named. ` +
      'Start one with `readback up`; point to the folder of a running one with --data-dir or READBACK_DATA_DIR; ' +
      'or name a Temporal with --temporal or TEMPORAL_ADDRESS.',
  );
}
