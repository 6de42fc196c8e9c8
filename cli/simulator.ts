/** `readback simulator`: devices that misbehave on demand. */
import type { Command } from 'commander';
import { addJsonFlag, addListenFlags, flag, type JsonFlag, type ListenFlags } from './flags.ts';
import { packageFile } from './package-root.ts';

interface SimulatorFlags extends JsonFlag, ListenFlags {
  readonly devices?: string;
}

export function addSimulator(program: Command): void {
  const command = program
    .command('simulator')
    .description('Run simulated devices over real HTTP: to try Readback without hardware.')
    .addHelpText('after', HELP)
    .action(async (flags: SimulatorFlags) => {
      const { runRole } = await import('./role.ts');
      await runRole({ json: flags.json === true }, async () => {
        const { startSimulator } = await import('../simulator/simulator.ts');
        const devices = flags.devices ?? packageFile('examples/demo-devices.yaml');
        const simulator = await startSimulator({ host: flags.host, port: flags.port, devices });
        return {
          ready: {
            text: `devices at ${simulator.url}`,
            json: { url: simulator.url, devices: simulator.deviceUrls },
          },
          stop: () => simulator.close(),
        };
      });
    });
  addJsonFlag(addListenFlags(command, 4100)).addOption(
    flag('--devices <file>', "the devices and how they behave (default: the demo's)"),
  );
}

const HELP = `
\`readback up\` runs one by itself, with the demo's devices.

Example:
  $ readback simulator --devices my-devices.yaml --port 4100
`;
