import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  type Holder,
  leaveDataFolder,
  runningUp,
  takeDataFolder,
  writeWhole,
} from '../../cli/data-folder.ts';
import { processIdentity } from '../../cli/process-identity.ts';
import { temporaryFolder } from './readback.ts';

const folder = temporaryFolder();
after(() => folder.remove());
let number = 0;
const freshDataDir = (): string => join(folder.path, String((number += 1)));

const holder = (changes: Partial<Holder> = {}): Holder => ({
  pid: process.pid,
  identity: processIdentity(process.pid) ?? '',
  startedAt: '2026-01-02T03:04:05.000Z',
  catalogue: '/home/me/readback.yaml',
  simulatorUrl: null,
  temporalProcess: null,
  ready: null,
  ...changes,
});

/** The process that runs this test's process: alive, and not ours. */
const living = { pid: process.ppid, identity: processIdentity(process.ppid) ?? '' };
const dead = { pid: spawnSync('true').pid, identity: 'gone' };

describe('the data folder', () => {
  it('is made where there is none, and is free again once left', () => {
    const dataDir = freshDataDir();
    assert.equal(takeDataFolder(dataDir, holder()), undefined);
    leaveDataFolder(dataDir);
    assert.equal(runningUp(dataDir), undefined);
    assert.deepEqual(readdirSync(dataDir), ['logs']);
  });

  it('is refused while another process holds it, naming that process and where it serves', () => {
    const dataDir = freshDataDir();
    const ready = {
      mcp: 'http://127.0.0.1:8484/mcp',
      console: 'http://127.0.0.1:8484/',
      temporalUi: null,
      temporal: '127.0.0.1:7233',
      namespace: 'default',
    };
    takeDataFolder(dataDir, holder({ ...living, ready }));
    assert.equal(runningUp(dataDir)?.pid, living.pid);
    assert.throws(() => takeDataFolder(dataDir, holder()), {
      exitCode: 2,
      message: new RegExp(`process ${living.pid}.*2026-01-02.*http://127.0.0.1:8484/mcp`),
    });
  });

  it('is taken over from a process that was killed, whose record is handed on', () => {
    const dataDir = freshDataDir();
    const server = { pid: 1, identity: 'x' };
    takeDataFolder(dataDir, holder({ ...dead, temporalProcess: server }));
    assert.equal(runningUp(dataDir), undefined);
    assert.deepEqual(takeDataFolder(dataDir, holder())?.temporalProcess, server);
  });

  it("is taken over when the holder's number now belongs to another process", () => {
    const dataDir = freshDataDir();
    takeDataFolder(dataDir, holder({ pid: living.pid, identity: 'somebody before' }));
    assert.equal(takeDataFolder(dataDir, holder())?.identity, 'somebody before');
  });

  it('is taken over from an earlier process with the very number of this one, as in a container', () => {
    const dataDir = freshDataDir();
    takeDataFolder(dataDir, holder({ identity: 'before the restart' }));
    assert.equal(takeDataFolder(dataDir, holder())?.identity, 'before the restart');
  });

  it('is taken over from a record that cannot be read', () => {
    const dataDir = freshDataDir();
    takeDataFolder(dataDir, holder());
    writeWhole(join(dataDir, 'up.json'), 'not a record');
    assert.doesNotThrow(() => takeDataFolder(dataDir, holder()));
    assert.equal(runningUp(dataDir), undefined, 'our own process is no other `up`');
  });
});
