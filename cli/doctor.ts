/** `readback doctor`: what is wrong, and how to mend it. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Finding } from './doctor/finding.ts';
import { EXIT } from './failure.ts';
import { addEngineFlags, addListenFlags, duration, type EngineFlags, type ListenFlags } from './flags.ts';
import { MCP_PORT } from './up.ts';

export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('Say what is wrong, and how to mend it.')
    .addHelpText('after', HELP)
    .addOption(new Option('--client', 'find out what an MCP client declares and really shows, instead'))
    .addOption(new Option('--stdio', 'with --client: serve the check over stdin and stdout'))
    .addOption(
      new Option(
        '--wait <duration>',
        'with --client: for how long it keeps the client waiting, to see when it gives up',
      )
        .default(90_000, '90s')
        .argParser(duration),
    )
    .action(async (flags: DoctorFlags) => {
      if (flags.client) return await checkClient(flags, command);
      const findings = await examine(flags);
      process.stdout.write(flags.json ? `${JSON.stringify(report(findings))}\n` : text(findings));
      process.exitCode = exitCodeOf(findings);
    });
  addListenFlags(addEngineFlags(command), MCP_PORT);
}

type DoctorFlags = EngineFlags &
  ListenFlags & { readonly client?: true; readonly stdio?: true; readonly wait: number };

async function checkClient(flags: DoctorFlags, command: Command): Promise<void> {
  const { checkClients } = await import('./doctor/client.ts');
  await checkClients({
    stdio: flags.stdio === true,
    json: flags.json === true,
    host: flags.host,
    // The usual port is Readback's own, which may well be running.
    port: command.getOptionValueSource('port') === 'default' ? null : flags.port,
    waitMs: flags.wait,
  });
}

async function examine(flags: EngineFlags & ListenFlags): Promise<Finding[]> {
  const [machine, { checkEngine }, { checkCatalogue }, { checkExamples }, { catalogueFile }, { problem }] =
    await Promise.all([
      import('./doctor/machine.ts'),
      import('./doctor/engine.ts'),
      import('./doctor/catalogue.ts'),
      import('./doctor/examples.ts'),
      import('./catalogue-path.ts'),
      import('./doctor/finding.ts'),
    ]);
  const dataDir = resolve(flags.dataDir);
  const { finding, up } = machine.checkUp(dataDir);
  const address = flags.temporal ?? up?.ready?.temporal;
  const noAddress = problem(
    'temporal',
    EXIT.noTemporal,
    'none named, and no `readback up` runs',
    'Start `readback up`, or name one with --temporal or TEMPORAL_ADDRESS.',
  );
  const file = flags.catalogue === undefined && up ? up.catalogue : catalogueFile(flags.catalogue);
  const following = up?.catalogue === file ? (up.ready?.mcp ?? null) : null;
  return [
    machine.checkNode(),
    machine.checkDataFolder(dataDir),
    finding,
    ...(flags.temporal === undefined ? [await machine.checkTemporalProgram(dataDir)] : []),
    ...(address === undefined
      ? [noAddress]
      : await checkEngine(address, flags.namespace ?? up?.ready?.namespace ?? 'default')),
    ...(await checkCatalogue(file, flags.simulatorUrl ?? up?.simulatorUrl ?? null, following, dataDir)),
    ...(await checkExamples(file)),
    await machine.checkPort(flags.port, flags.host, up),
  ];
}

const report = (findings: readonly Finding[]) => ({
  ok: findings.every(({ status }) => status !== 'problem'),
  checks: findings.map(({ check, status, found, mend }) => ({ check, status, found, mend })),
});

/** Temporal first: without it nothing works; then what was written wrongly; then the rest. */
function exitCodeOf(findings: readonly Finding[]): number {
  const codes = findings.filter(({ status }) => status === 'problem').map(({ exitCode }) => exitCode);
  return [EXIT.noTemporal, EXIT.usage, EXIT.endedBadly].find((code) => codes.includes(code)) ?? EXIT.asAsked;
}

const MARK = { ok: '  ok      ', warning: '  warning ', problem: '  PROBLEM ' } as const;

function text(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, status, found, mend }) => [
    `${MARK[status]}${check}: ${found.replaceAll('\n', '\n            ')}`,
    ...(mend === null ? [] : [`            → ${mend}`]),
  ]);
  return `${lines.join('\n')}\n`;
}

const HELP = `
Looks at Node, the data folder, Temporal and its namespace, workers, the catalogue and the examples in
its profiles, each connection, and the MCP port.
Sends nothing to any device. --client looks at an MCP client instead: it serves a tool that tries what the client can do.
Exit code 0: no problem; 3: Temporal; 2: catalogue or usage; 1: anything else.
`;
