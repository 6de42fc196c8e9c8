/** `readback worker`: runs the workflows and talks to the devices. */
import type { Command } from 'commander';
import { addEngineFlags, type EngineFlags } from './flags.ts';

export function addWorker(program: Command): void {
  const command = program
    .command('worker')
    .description('Run a worker: it runs the workflows and is the only part that talks to devices.')
    .addHelpText('after', HELP)
    .action(async (flags: EngineFlags) => {
      const { runRole } = await import('./role.ts');
      await runRole('worker', { json: flags.json === true }, async (log) => {
        const [{ findEngine }, { readCatalogue }, { runWorker }] = await Promise.all([
          import('./running-up.ts'),
          import('./catalogue-file.ts'),
          import('../worker/worker.ts'),
        ]);
        const engine = findEngine(flags);
        const catalogue = readCatalogue(engine.catalogueFile, engine.simulatorUrl);
        const worker = await runWorker({
          address: engine.address,
          namespace: engine.namespace,
          catalogue,
          log,
        });
        return {
          ready: { text: `working on ${engine.address}, namespace ${engine.namespace}`, json: {} },
          ended: worker.ended,
          stop: () => worker.stop(),
        };
      });
    });
  addEngineFlags(command);
}

const HELP = `
\`readback up\` runs one by itself. Several may run, here or elsewhere; each needs the same catalogue and its secrets.

Example:
  $ TEMPORAL_ADDRESS=temporal.local:7233 readback worker --catalogue home.yaml
`;
