/** A host that starts `readback stdio` as its child process and speaks to it, as hosts do. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CATALOGUE, type House } from './serving.ts';

export interface StdioHost {
  /** A new process and a client of 2026-07-28 of it. */
  connect(capabilities: Readonly<Record<string, unknown>>): Promise<Client>;
  close(): Promise<void>;
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
  return {
    async connect(capabilities) {
      const client = new Client(
        { name: 'test-host', version: '1.0.0' },
        { capabilities, versionNegotiation: { mode: 'auto' } },
      );
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [
            join(import.meta.dirname, '../../bin/readback.mjs'),
            'stdio',
            ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
          ],
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: folder,
            READBACK_SEAL_KEY: Buffer.from(harness.sealKey).toString('base64'),
          },
        }),
      );
      return client;
    },
    close: () => rm(folder, { recursive: true }),
  };
}
