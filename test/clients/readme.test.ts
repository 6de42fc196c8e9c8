/** README's configuration for hosts: each is what it says, and what it names starts and answers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startUp, type Up } from '../cli/readback.ts';
import { openClient } from './open-client.ts';
import { pythonWithClients } from './python-clients.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATH_IN_README = '/path/to/readback';
const MCP_IN_README = 'http://127.0.0.1:8484/mcp';
/** Each host's own words for the list of its servers and for the address of one. */
const HOSTS = [
  ['Claude Code', 'mcpServers', 'url'],
  ['Claude Desktop', 'mcpServers', 'command'],
  ['Cursor', 'mcpServers', 'url'],
  ['VS Code', 'servers', 'url'],
  ['Codex CLI', 'mcp_servers', 'url'],
  ['Gemini CLI', 'mcpServers', 'httpUrl'],
] as const;

describe('README’s configuration', () => {
  let up: Up;
  let dataDir: string;
  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'readback-readme-'));
    up = await startUp(dataDir);
  });
  after(async () => {
    up.process.kill('SIGTERM');
    await up.ended;
    rmSync(dataDir, { recursive: true, force: true });
  });

  for (const [host, servers, address] of HOSTS) {
    it(`for ${host} connects it`, async () => {
      const config = await parsed(snippetFor(host));
      const server = config[servers]['readback'];
      assert.ok(server[address], JSON.stringify(server));
      const place = (text: string) =>
        text.replace(`${PATH_IN_README}/.readback`, dataDir).replace(PATH_IN_README, ROOT);
      const endpoint =
        address === 'command'
          ? { command: server.command, args: server.args.map(place) }
          : { url: up.ready.mcp, headers: {} };
      if (address !== 'command') assert.equal(server[address], MCP_IN_README);
      const row = { client: 'typescript', era: 'modern', transport: 'http', person: 'none' } as const;
      const client = await openClient({ row, endpoint, ask: () => assert.fail('nobody is there') });
      const { text } = await client.call('list_devices', { query: 'bedroom' });
      await client.close();
      assert.match(text, /bedroom-ac/);
    });
  }
});

/** The first block after the host's name. */
function snippetFor(host: string): { language: string; text: string } {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, language = '', text = ''] =
    new RegExp(`\\*\\*${host}\\*\\*[^]*?\`\`\`(json|toml)\\n([^]*?)\`\`\``).exec(readme) ?? [];
  return { language, text };
}

async function parsed({ language, text }: { language: string; text: string }): Promise<any> {
  if (language !== 'toml') return JSON.parse(text);
  const program = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])))';
  const { stdout } = await promisify(execFile)(await pythonWithClients(), ['-c', program, text]);
  return JSON.parse(stdout);
}
