import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Holder } from '../../cli/data-folder.ts';
import { processIdentity } from '../../cli/process-identity.ts';
import { endOrphan } from '../../cli/up/temporal-server.ts';
import {
  eventually,
  processesOf,
  readback,
  readJson,
  startUp,
  temporaryFolder,
  type Up,
} from './readback.ts';

const folder = temporaryFolder();
after(() => folder.remove());

describe('`readback up`', { timeout: 240_000 }, () => {
  const dataDir = join(folder.path, 'data');
  let up: Up;
  before(async () => {
    up = await startUp(dataDir);
  });
  after(() => up.process.kill('SIGKILL'));

  it('prints exactly one line on stdout, with addresses that all answer', async () => {
    assert.equal(up.said().stdout.split('\n').length, 2);
    const { mcp, console: consoleUrl, temporalUi } = up.ready;
    assert.deepEqual(Object.keys(up.ready), [
      'ready',
      'mcp',
      'console',
      'temporalUi',
      'temporal',
      'namespace',
    ]);
    assert.equal(mcp, `${consoleUrl}mcp`);
    assert.equal((await fetch(new URL('/healthz', mcp))).status, 200);
    assert.equal((await fetch(temporalUi)).status, 200);
  });

  it('runs each part as a process whose command line names its role', () => {
    const lines = processesOf(dataDir);
    for (const role of ['worker', 'serve']) {
      assert.equal(lines.filter((line) => line.includes(`readback ${role}`)).length, 1, lines.join('\n'));
    }
    assert.equal(lines.filter((line) => line.includes('server start-dev')).length, 1, lines.join('\n'));
  });

  it('lets a second one on the same folder say who holds it', async () => {
    const { code, stderr } = await readback(['up', '--data-dir', dataDir, '--port', '0']);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`process ${up.process.pid}.*${up.ready.mcp}`));
  });

  it('is found by `readback doctor`, which has nothing to mend', async () => {
    const { code, stdout } = await readback(['doctor', '--data-dir', dataDir, '--json']);
    const report = JSON.parse(stdout) as { ok: boolean; checks: { check: string; status: string }[] };
    assert.deepEqual(
      report.checks.filter(({ status }) => status !== 'ok'),
      [],
    );
    assert.equal(report.ok, true);
    assert.equal(code, 0);
    const checks = report.checks.map(({ check }) => check);
    for (const check of ['temporal', 'search attributes', 'retention', 'worker', 'catalogue', 'mcp server']) {
      assert.ok(checks.includes(check), check);
    }
  });

  it('starts a part again that was killed, and says so', async () => {
    for (const role of ['worker', 'serve', 'temporal']) {
      const pattern = role === 'temporal' ? 'server start-dev' : `readback ${role}`;
      const pid = Number.parseInt(processesOf(dataDir).find((line) => line.includes(pattern)) ?? '', 10);
      process.kill(pid, 'SIGKILL');
      assert.ok(
        await eventually(() => up.said().stderr.includes(`${role} is back.`), 30_000),
        up.said().stderr,
      );
      assert.match(up.said().stderr, new RegExp(`${role} ended \\(.*\\); starting it again`));
    }
    assert.equal((await fetch(new URL('/healthz', up.ready.mcp))).status, 200);
  });

  it('keeps logs, and no secret in them', () => {
    const key = readFileSync(join(dataDir, 'seal.key'), 'utf8');
    for (const log of ['up', 'temporal', 'worker']) {
      assert.ok(!readFileSync(join(dataDir, 'logs', `${log}.log`), 'utf8').includes(key));
    }
  });

  it('stops all of it on Ctrl-C, and exits with 0', async () => {
    up.process.kill('SIGINT');
    assert.equal(await up.ended, 0);
    assert.ok(await eventually(() => processesOf(dataDir).length === 0), processesOf(dataDir).join('\n'));
    assert.equal(existsSync(join(dataDir, 'up.json')), false);
    assert.equal(up.said().stdout.split('\n').length, 2);
  });
});

describe('`readback up`, killed', { timeout: 240_000 }, () => {
  const dataDir = join(folder.path, 'killed');

  it('takes its children along, and starts again on the same ports', async () => {
    const first = await startUp(dataDir);
    first.process.kill('SIGKILL');
    assert.ok(await eventually(() => processesOf(dataDir).length === 0), processesOf(dataDir).join('\n'));
    const second = await startUp(dataDir);
    assert.equal(second.ready.temporal, first.ready.temporal);
    second.process.kill('SIGTERM');
    assert.equal(await second.ended, 0);
  });

  it('together with the keeper of its Temporal starts again all the same', async () => {
    const first = await startUp(dataDir);
    const { pid } = (readJson(join(dataDir, 'up.json')) as Holder).temporalProcess!;
    const server = processesOf(dataDir).find((line) => line.trim().startsWith(`${pid} `));
    const keeper = Number(server?.trim().split(/\s+/)[1]);
    // Stopped first, it has no chance to notice that `up` is gone.
    process.kill(keeper, 'SIGSTOP');
    first.process.kill('SIGKILL');
    process.kill(keeper, 'SIGKILL');
    await first.ended;
    const second = await startUp(dataDir);
    assert.equal(processIdentity(pid), undefined, 'the old server must be gone');
    second.process.kill('SIGTERM');
    assert.equal(await second.ended, 0);
  });
});

describe('a Temporal server left behind', () => {
  it('is ended by the next start', async () => {
    const orphan = spawn('sleep', ['60']);
    const gone = once(orphan, 'exit');
    const said: string[] = [];
    await endOrphan({ pid: orphan.pid!, identity: processIdentity(orphan.pid!)! }, (text) => said.push(text));
    await gone;
    assert.match(said.join(), new RegExp(`process ${orphan.pid}`));
  });

  it('is not confused with a later process of the same number', async () => {
    const other = spawn('sleep', ['60']);
    await endOrphan({ pid: other.pid!, identity: 'an earlier one' }, (text) => assert.fail(text));
    assert.notEqual(processIdentity(other.pid!), undefined);
    other.kill();
  });
});

describe('`readback up` beside others', { timeout: 240_000 }, () => {
  it('leaves the usual ports to whoever has them, and remembers its own', async () => {
    const other = await listen(7233);
    const dataDir = join(folder.path, 'beside');
    const up = await startUp(dataDir);
    assert.notEqual(up.ready.temporal, '127.0.0.1:7233');
    assert.equal(
      (readJson(join(dataDir, 'ports.json')) as { temporal: { server: number } }).temporal.server,
      Number(up.ready.temporal.split(':')[1]),
    );
    up.process.kill('SIGINT');
    assert.equal(await up.ended, 0);
    other?.close();
  });

  it('never shares a Temporal with another one that starts in the same moment', async () => {
    const dataDirs = ['first', 'second'].map((name) => join(folder.path, name));
    const ups = await Promise.all(dataDirs.map((path) => startUp(path)));
    assert.notEqual(ups[0]?.ready.temporal, ups[1]?.ready.temporal);
    for (const up of ups) {
      up.process.kill('SIGINT');
      assert.equal(await up.ended, 0, up.said().stderr);
    }
  });

  it('refuses an MCP port that is taken, and starts nothing', async () => {
    const server = await listen(0);
    const address = server?.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const dataDir = join(folder.path, 'taken');
    const { code, stderr } = await readback(['up', '--data-dir', dataDir, '--port', String(port)]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port}.*--port`));
    server?.close();
  });

  it('exits with 3 when the Temporal that it was given does not answer', async () => {
    const dataDir = join(folder.path, 'unreachable');
    const { code, stderr } = await readback([
      'up',
      '--data-dir',
      dataDir,
      '--port',
      '0',
      '--temporal',
      '127.0.0.1:1',
    ]);
    assert.equal(code, 3);
    assert.match(stderr, /Can't reach Temporal at 127\.0\.0\.1:1/);
    assert.deepEqual(processesOf(dataDir), []);
  });
});

/** undefined: somebody else has that port, which serves the test as well. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
