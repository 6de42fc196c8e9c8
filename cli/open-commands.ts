/** The `Commands` that a command of the command line works with. */
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { TemporalCommands } from '../commands/temporal-commands.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import type { Caller } from '../domain/command.ts';
import type { EngineFlags } from './flags.ts';
import type { LiveCatalogue } from './live-catalogue.ts';
import { type Engine, findEngine } from './running-up.ts';

/** Whoever may use this machine's terminal and Temporal sees every command. */
export const VIEWER = { kind: 'operator' } as const;

export interface OpenCommands {
  readonly commands: TemporalCommands;
  readonly engine: Engine;
  readonly catalogue: Catalogue;
  /** null unless asked for with `decides`. */
  readonly sealKey: Uint8Array | null;
  close(): Promise<void>;
}

/**
 * Connects to the Temporal of the flags or of the running `up`. With `decides`, answers to approvals can be passed on,
 * which takes the key that seals them. Throws a `Failure` or `EngineUnreachable`.
 */
export async function openCommands(flags: EngineFlags, { decides = false } = {}): Promise<OpenCommands> {
  const engine = findEngine(flags);
  const [{ readingWithoutSecrets, readOnce }, { readSealKey }, { createTemporalCommands }] =
    await Promise.all([
      import('./catalogue-file.ts'),
      import('./seal-key.ts'),
      import('../commands/temporal-commands.ts'),
    ]);
  const catalogue = await readOnce(readingWithoutSecrets(engine.catalogueFile));
  const sealKey = decides ? readSealKey(engine.dataDir) : null;
  const commands = await createTemporalCommands({
    address: engine.address,
    namespace: engine.namespace,
    catalogue: () => catalogue,
    sealKey,
  });
  return { commands, engine, catalogue, sealKey, close: () => commands.close() };
}

/** For servers: what `OpenCommands` holds, with a catalogue that is followed once somebody says so. */
export interface OpenServing extends Pick<OpenCommands, 'commands' | 'engine' | 'close'> {
  readonly catalogue: LiveCatalogue;
  readonly sealKey: Uint8Array;
}

/** As `openCommands`. What becomes of the catalogue is told to `log`. */
export async function openServing(flags: EngineFlags, log: Logger): Promise<OpenServing> {
  const engine = findEngine(flags);
  const [{ readingWithoutSecrets }, { openLiveCatalogue }, { readSealKey }, { createTemporalCommands }] =
    await Promise.all([
      import('./catalogue-file.ts'),
      import('./live-catalogue.ts'),
      import('./seal-key.ts'),
      import('../commands/temporal-commands.ts'),
    ]);
  const { address, namespace } = engine;
  const catalogue = await openLiveCatalogue(readingWithoutSecrets(engine.catalogueFile), log);
  const sealKey = readSealKey(engine.dataDir);
  const commands = await createTemporalCommands({
    address,
    namespace,
    catalogue: catalogue.current,
    sealKey,
  });
  return {
    commands,
    engine,
    catalogue,
    sealKey,
    async close() {
      catalogue.close();
      await commands.close();
    },
  };
}

/** An action that works with `Commands` and closes them whatever happens. */
export function withCommands<Arguments extends unknown[], Flags extends EngineFlags>(
  action: (open: OpenCommands, flags: Flags, ...args: Arguments) => Promise<void>,
) {
  // Commander passes the arguments, then the flags, then the command itself.
  return async (...given: [...Arguments, Flags, Command]): Promise<void> => {
    const flags = given.at(-2) as Flags;
    const args = given.slice(0, -2) as Arguments;
    const open = await openCommands(flags);
    try {
      await action(open, flags, ...args);
    } finally {
      await open.close();
    }
  };
}

export const cliCaller = (): Caller => ({
  subject: 'local',
  client: 'readback',
  transport: 'cli',
  unattended: false,
});
