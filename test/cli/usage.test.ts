import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readback, temporaryFolder } from './readback.ts';

const folder = temporaryFolder();
after(() => folder.remove());
const inFolder = { cwd: folder.path };

describe('the command line', () => {
  it('shows every command and examples with --help', async () => {
    const { code, stdout } = await readback(['--help']);
    assert.equal(code, 0);
    for (const command of [
      'up',
      'send',
      'devices',
      'commands',
      'doctor',
      'serve',
      'worker',
      'stdio',
      'simulator',
    ]) {
      assert.match(stdout, new RegExp(`^  ${command}\\b`, 'm'));
    }
    assert.match(stdout, /\$ readback send bedroom-ac temperature=26 --wait/);
  });

  it('names the variable of each flag', async () => {
    const { code, stdout } = await readback(['serve', '--help']);
    assert.equal(code, 0);
    for (const flag of [
      'catalogue',
      'port',
      'host',
      'data-dir',
      'temporal',
      'namespace',
      'approval',
      'task-grace',
      'sync-wait',
    ]) {
      assert.match(stdout, new RegExp(`--${flag}\\b`));
      assert.match(
        stdout.replace(/\s+/g, ' '),
        new RegExp(`env: READBACK_${flag.toUpperCase().replace('-', '_')}\\b`),
      );
    }
  });

  it('suggests the flag that was meant, and exits with 2', async () => {
    const { code, stderr } = await readback(['up', '--catalog', 'x.yaml'], inFolder);
    assert.equal(code, 2);
    assert.match(stderr, /unknown option '--catalog'[^]*Did you mean --catalogue\?/);
  });

  it('suggests the command that was meant, and exits with 2', async () => {
    const { code, stderr } = await readback(['snd', 'bedroom-ac', 'power=on'], inFolder);
    assert.equal(code, 2);
    assert.match(stderr, /Did you mean send\?/);
  });

  it('refuses what is no duration, from a flag and from its variable', async () => {
    const byFlag = await readback(['serve', '--task-grace', '5x'], inFolder);
    assert.equal(byFlag.code, 2);
    assert.match(byFlag.stderr, /--task-grace[^]*500ms, 5s, 2m/);
    const byVariable = await readback(['serve'], { ...inFolder, env: { READBACK_TASK_GRACE: 'soon' } });
    assert.equal(byVariable.code, 2);
    assert.match(byVariable.stderr, /READBACK_TASK_GRACE/);
  });

  it('refuses a wait longer than agents may be kept waiting', async () => {
    const { code, stderr } = await readback(['serve', '--sync-wait', '2m'], inFolder);
    assert.equal(code, 2);
    assert.match(stderr, /at most 45 s/);
    const grace = await readback(['serve', '--task-grace', '2m'], inFolder);
    assert.equal(grace.code, 2);
    assert.match(grace.stderr, /--task-grace[^]*at most 45 s/);
  });

  it('takes an empty variable for an unset one', async () => {
    const { code, stderr } = await readback(['serve'], { ...inFolder, env: { READBACK_TASK_GRACE: '' } });
    assert.equal(code, 3, stderr);
  });

  it('says what a value should look like when it has no field', async () => {
    const { code, stderr } = await readback(
      ['send', 'bedroom-ac', '26', '--temporal', '127.0.0.1:1'],
      inFolder,
    );
    assert.equal(code, 2);
    assert.match(stderr, /'26' is invalid[^]*should look like field=value[^]*Nothing was sent/);
  });
});

describe('without a Temporal', () => {
  for (const args of [
    ['send', 'bedroom-ac', 'power=on'],
    ['commands', 'list'],
    ['stdio'],
    ['worker'],
    ['serve'],
  ]) {
    it(`\`readback ${args.join(' ')}\` exits with 3 and says how to start one`, async () => {
      const { code, stderr, stdout } = await readback(args, inFolder);
      assert.equal(code, 3);
      assert.match(stderr, /Start one with `readback up`/);
      assert.equal(stdout, '');
    });
  }

  it('exits with 3 when nothing answers at the address that was named', async () => {
    const { code, stderr } = await readback(['commands', 'list'], {
      ...inFolder,
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    });
    assert.equal(code, 3);
    assert.match(stderr, /127\.0\.0\.1:1/);
    assert.doesNotMatch(stderr, /^\s+at /m);
  });

  it('tells the same as one line of JSON with --json', async () => {
    const { code, stdout } = await readback(['commands', 'list', '--json'], inFolder);
    assert.equal(code, 3);
    const lines = stdout.trim().split('\n');
    assert.equal(lines.length, 1);
    const { error, exitCode } = JSON.parse(lines[0]!) as { error: string; exitCode: number };
    assert.match(error, /readback up/);
    assert.equal(exitCode, 3);
  });
});

describe('a catalogue with secrets', () => {
  it('needs none of them where no device is talked to', async () => {
    const catalogue = join(folder.path, 'secrets.yaml');
    writeFileSync(
      catalogue,
      `version: 1
connections: { vendor: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { basic: { username: "\${NOT_SET_ANYWHERE}", password: "\${file:nowhere.txt}" } } } }
devices:
  heater: { connection: vendor, send: PUT /heater, read: GET /heater, fields: { power: onoff } }
`,
    );
    const env = {
      READBACK_CATALOGUE: catalogue,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      READBACK_SEAL_KEY: randomBytes(32).toString('base64url'),
    };
    for (const args of [
      ['serve', '--port', '0'],
      ['send', 'heater', 'power=on'],
      ['commands', 'list'],
    ]) {
      const { code, stderr } = await readback(args, { ...inFolder, env });
      assert.equal(code, 3, stderr);
      assert.match(stderr, /127\.0\.0\.1:1/);
    }
    const { code, stderr } = await readback(['worker'], { ...inFolder, env });
    assert.equal(code, 2);
    assert.match(stderr, /NOT_SET_ANYWHERE is not set[^]*nowhere\.txt can't be read/);
  });
});

describe('a wrong catalogue', () => {
  it('ends `up` with 2 and all of its problems, and starts nothing', async () => {
    const file = join(folder.path, 'wrong.yaml');
    writeFileSync(
      file,
      `version: 1
connections: { vendor: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { bearer: "\${NOT_SET_ANYWHERE}" } } }
devices:
  heater: { connection: vendr, send: PUT /heater, read: GET /heater, fields: { power: onof } }
`,
    );
    const dataDir = join(folder.path, 'wrong-data');
    const { code, stderr, stdout } = await readback(
      ['up', '--catalogue', file, '--data-dir', dataDir],
      inFolder,
    );
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /NOT_SET_ANYWHERE/);
    assert.match(stderr, /vendr/);
    assert.match(stderr, /onof/);
    assert.doesNotMatch(stderr, /^\s+at /m);
  });

  it('ends `up` with 2, naming the devices, where a connection has all that it needs and can not work with it', async () => {
    const file = join(folder.path, 'later.yaml');
    writeFileSync(
      file,
      `version: 1
connections: { cloud: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { sign: { over: "{body}", secret: "no*base64", secretAs: base64, headers: { x-sign: "{signature}" } } } } }
devices:
  desk-lamp: { connection: cloud, send: PUT /lamp, read: GET /lamp, fields: { power: onoff } }
`,
    );
    const dataDir = join(folder.path, 'later-data');
    const { code, stderr } = await readback(['up', '--catalogue', file, '--data-dir', dataDir], inFolder);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /"cloud".* is not written in base64 .*desk-lamp/);
    const doctor = await readback(['doctor', '--catalogue', file, '--data-dir', dataDir, '--json'], inFolder);
    assert.match(doctor.stdout, /"check":"devices","status":"problem"[^}]*desk-lamp/);
  });

  it('ends `up` with 2 when the file is not there', async () => {
    const { code, stderr } = await readback(['up', '--catalogue', 'absent.yaml'], inFolder);
    assert.equal(code, 2);
    assert.match(stderr, /no catalogue at .*absent\.yaml/);
  });
});
