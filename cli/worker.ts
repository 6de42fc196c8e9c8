/** `readback worker`: runs the workflows and talks to the devices. */
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { signInFolder } from './data-folder.ts';
import { addConsoleFlag, addEngineFlags, type ConsoleFlags, type EngineFlags } from './flags.ts';
import type { Running } from './role.ts';

type WorkerFlags = EngineFlags & ConsoleFlags;

export function addWorker(program: Command): void {
  const command = program
    .command('worker')
    .description('Run a worker: it runs the workflows and is the only part that talks to devices.')
    .addHelpText('after', HELP)
    .action(async (flags: WorkerFlags) => {
      const { runRole } = await import('./role.ts');
      await runRole({ json: flags.json === true }, (log) => start(flags, log));
    });
  addConsoleFlag(addEngineFlags(command));
}

async function start(flags: WorkerFlags, log: Logger): Promise<Running> {
  const [
    { findEngine },
    { readingUsable },
    { openLiveCatalogue },
    { readSealKey },
    { startWorker },
    { workflowBundle },
    { prepareNamespace },
    { DefaultLogger, Runtime },
  ] = await Promise.all([
    import('./running-up.ts'),
    import('./catalogue-file.ts'),
    import('./live-catalogue.ts'),
    import('./seal-key.ts'),
    import('../worker/worker.ts'),
    import('./workflow-bundle.ts'),
    import('./namespace.ts'),
    import('@temporalio/worker'),
  ]);
  const engine = findEngine(flags);
  const catalogue = await openLiveCatalogue(readingUsable(engine.catalogueFile, engine.simulatorUrl), log);
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    // One of the two task queues has only activities, and the other no Nexus: nothing to warn of.
    const expected = / registered, not polling for /.test(message);
    log[expected ? 'debug' : PINO_LEVEL[level]](meta ?? {}, message);
  });
  // Signals are the role's own business: it knows how long stopping may take.
  Runtime.install({ logger, shutdownSignals: [] });
  // Without its search attributes every command would get stuck: rather no worker than that.
  await prepareNamespace({ ...engine, ours: false, say: (text) => log.warn(text) });
  const sealKey = readSealKey(engine.dataDir);
  const worker = await startWorker({
    address: engine.address,
    namespace: engine.namespace,
    catalogue: catalogue.current(),
    sealKey,
    signInFolder: signInFolder(engine.dataDir),
    consoleUrl: flags.consoleUrl ?? engine.consoleUrl,
    logger,
    workflowBundle: await workflowBundle(engine.dataDir, logger),
  });
  catalogue.follow({ prepare: (next) => worker.replaceCatalogue(next) });
  return {
    ready: { text: `working on ${engine.address}, namespace ${engine.namespace}`, json: {} },
    ended: worker.done,
    async stop() {
      catalogue.close();
      await worker.stop();
    },
  };
}

const PINO_LEVEL = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

const HELP = `
\`readback up\` runs one by itself. Several may run, here or elsewhere; each needs the same catalogue and its secrets,
and the servers' READBACK_SEAL_KEY.

Example:
  $ TEMPORAL_ADDRESS=temporal.local:7233 readback worker --catalogue home.yaml
`;
