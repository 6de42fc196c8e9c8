/** A host that starts `readback stdio` as its child process and speaks to it, as hosts do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CATALOGUE, type House } from './serving.ts';

export interface StdioHost {
  /** A new process and a client of 2026-07-28 of it. */
  connect(capabilities: Readonly<Record<string, unknown>>): Promise<Client>;
  /** A new process that is written to line by line. */
  start(): StdioProcess;
  close(): Promise<void>;
}

export interface StdioProcess {
  write(line: string): void;
  /** Every line that it has written, once one of them answers the request with this id. */
  until(id: string): Promise<readonly string[]>;
  stderr(): string;
  stop(): Promise<void>;
}

export async function stdioHost({ harness }: House): Promise<StdioHost> {
  const folder = await mkdtemp(join(tmpdir(), 'readback-stdio-'));
  const catalogue = join(folder, 'readback.yaml');
  await writeFile(catalogue, CATALOGUE);
  const flags = {
    temporal: harness.temporal.address,
    catalogue,
    'data-dir': folder,
    'simulator-url': harness.simulatorUrl,
  };
  const command = process.execPath;
  const args = [
    join(import.meta.dirname, '../../bin/readback.mjs'),
    'stdio',
    ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  ];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    READBACK_SEAL_KEY: Buffer.from(harness.sealKey).toString('base64'),
  };
  return {
    async connect(capabilities) {
      const client = new Client(
        { name: 'test-host', version: '1.0.0' },
        { capabilities, versionNegotiation: { mode: 'auto' } },
      );
      await client.connect(new StdioClientTransport({ command, args, env }));
      return client;
    },
    start: () => stdioProcess(command, args, env),
    close: () => rm(folder, { recursive: true }),
  };
}

function stdioProcess(command: string, args: readonly string[], env: Record<string, string>): StdioProcess {
  const child = spawn(command, args, { env, stdio: 'pipe' });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const answered = (id: string) => lines.some((line) => line.includes(`"id":${JSON.stringify(id)}`));
  return {
    write: (line) => void child.stdin.write(`${line}\n`),
    async until(id) {
      while (!answered(id)) {
        const ended = once(child, 'exit').then(() => Promise.reject(new Error(`it ended: ${stderr}`)));
        await Promise.race([once(output, 'line'), ended]);
      }
      return lines;
    },
    stderr: () => stderr,
    async stop() {
      const exit = once(child, 'exit');
      child.stdin.end();
      await exit;
    },
  };
}
