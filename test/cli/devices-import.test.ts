/** `readback devices import` in front of what plays a small Home Assistant. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readback, temporaryFolder } from './readback.ts';

const TOKEN = 'a-token-of-this-house';
const STATES = [
  {
    entity_id: 'light.hall',
    state: 'on',
    attributes: { friendly_name: 'Hall', supported_color_modes: ['onoff'] },
  },
  { entity_id: 'lock.door', state: 'locked', attributes: { friendly_name: 'Door' } },
];

describe('importing from a Home Assistant', () => {
  const folder = temporaryFolder();
  let server: Server;
  let url: string;
  let isRunning = true;
  const run = (args: readonly string[], token = TOKEN) =>
    readback(['devices', 'import', '--from', 'home-assistant', ...args], {
      cwd: folder.path,
      env: { HA_TOKEN: token },
    });
  const fileNamed = (name: string): string => join(folder.path, name);

  before(async () => {
    server = createServer((request, response) => {
      const answers: Record<string, unknown> = {
        '/api/config': { state: isRunning ? 'RUNNING' : 'STARTING', unit_system: { temperature: '°C' } },
        '/api/states': STATES,
        '/api/template': [['lock.door', 'Entrance']],
      };
      const isKnown = request.headers.authorization === `Bearer ${TOKEN}`;
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isKnown ? answers[request.url ?? ''] : {}));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    folder.remove();
  });

  it('writes a catalogue, says what and what else is needed, and asks the same house again by itself', async () => {
    const first = await run(['--url', url]);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^\+ hall {2}"Hall" \(light\.hall\): power$/m);
    assert.match(first.stdout, /Approval rules added[^]*lock[^]*readback approvers add/);
    const text = readFileSync(fileNamed('readback.yaml'), 'utf8');
    assert.match(text, /area: Entrance/);
    const again = await run(['--json']);
    const report = JSON.parse(again.stdout) as Record<string, unknown>;
    assert.deepEqual([report['same'], report['written'], report['diff']], [['hall', 'door'], false, '']);
  });

  it('keeps a link a link, and the rights of the file behind it', async () => {
    writeFileSync(fileNamed('real.yaml'), '# mine\nversion: 1\n');
    chmodSync(fileNamed('real.yaml'), 0o600);
    symlinkSync(fileNamed('real.yaml'), fileNamed('link.yaml'));
    const { code, stderr } = await run(['--url', url, '--into', 'link.yaml', '--only', 'light']);
    assert.equal(code, 0, stderr);
    assert.ok(lstatSync(fileNamed('link.yaml')).isSymbolicLink());
    assert.equal(statSync(fileNamed('real.yaml')).mode & 0o777, 0o600);
    assert.match(readFileSync(fileNamed('real.yaml'), 'utf8'), /^# mine\nversion: 1\n[^]*light\.hall/);
  });

  it('names a file with the token by its path, from where the catalogue is', async () => {
    writeFileSync(fileNamed('token'), `${TOKEN}\n`);
    const { code, stderr } = await run(
      ['--url', url, '--into', 'by-file.yaml', '--secret-file', 'token'],
      '',
    );
    assert.equal(code, 0, stderr);
    assert.match(readFileSync(fileNamed('by-file.yaml'), 'utf8'), /bearer: "\$\{file:token\}"/);
  });

  for (const [what, args, told, token] of [
    ['nobody says where to ask', ['--into', 'none.yaml'], /--url http:\/\/homeassistant\.local:8123/],
    [
      'the variable is not set',
      ['--into', 'none.yaml', '--url', 'http://127.0.0.1:1'],
      /HA_TOKEN is not set[^]*--secret-file/,
      '',
    ],
    ['the secret itself is given', ['--secret-env', 'eyJ.a-b'], /not the secret itself/],
    ['nobody answers', ['--into', 'none.yaml', '--url', 'http://127.0.0.1:1'], /connection refused/],
    [
      'a file of comments is fine, but nobody answers',
      ['--into', 'comments.yaml', '--url', 'http://127.0.0.1:1'],
      /import again/,
    ],
    [
      'the catalogue is broken',
      ['--into', 'broken.yaml'],
      /broken\.yaml: devices\.x\.entty[^]*Mend it first/,
    ],
  ] as const) {
    it(`writes nothing where ${what}, and says so`, async () => {
      writeFileSync(fileNamed('broken.yaml'), 'devices: { x: { entty: light.x } }\n');
      writeFileSync(fileNamed('comments.yaml'), '# ours\n');
      const { code, stderr } = await run(args, token);
      assert.ok(code === 1 || code === 2, String(code));
      assert.match(stderr, told);
      assert.equal(existsSync(fileNamed('none.yaml')), false);
    });
  }

  it('waits for a house that is still starting: what is missing there would seem to be gone', async () => {
    isRunning = false;
    const { code, stderr } = await run(['--prune']);
    isRunning = true;
    assert.equal(code, 1);
    assert.match(stderr, /has not started yet/);
  });
});
