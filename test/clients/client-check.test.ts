/** What `readback doctor --client` finds of real clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, start } from '../cli/readback.ts';
import type { Ask } from './client.ts';
import type { Endpoint } from './house.ts';
import { openClient } from './open-client.ts';
import type { Row } from './rows.ts';

const CHECK = ['doctor', '--client', '--json', '--wait', '500ms'];
const A_PERSON_TAKES_MS = 1_200;

const person: Ask = async ({ mode, url }) => {
  if (mode === 'url') await fetch(url);
  await sleep(A_PERSON_TAKES_MS);
  return { action: 'accept', content: { seen: true } };
};
const declines: Ask = async () => ({ action: 'decline' });

describe('doctor --client', { concurrency: 2 }, () => {
  let doctor: ReturnType<typeof start>;
  let ended: ReturnType<typeof endOf>;
  let http: Endpoint;
  before(async () => {
    doctor = start(CHECK);
    ended = endOf(doctor);
    assert.ok(doctor.stdout);
    const [line] = (await once(createInterface({ input: doctor.stdout }), 'line')) as [string];
    http = { url: JSON.parse(line).mcp, headers: {} };
  });
  after(async () => {
    doctor.kill('SIGINT');
    const { code, stdout } = await ended;
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').clients.length, 3);
  });
  const stdio = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../../bin/readback.mjs'), ...CHECK, '--stdio'],
  };

  for (const [finds, row, ask, found] of [
    [
      'a form answered by the client itself',
      { client: 'mcp', era: 'legacy', transport: 'http', person: 'form' },
      declines,
      /forms +declared, but answered by the client itself[^]*form during the call/,
    ],
    [
      'a person and an opened page',
      { client: 'fastmcp', era: 'modern', transport: 'http', person: 'form' },
      person,
      /forms +shown and answered: yes[^]*pages +opened after[^]*form in the answer/,
    ],
    [
      'that tasks are followed and their forms answered',
      { client: 'fastmcp-tasks', era: 'modern', transport: 'http', person: 'form' },
      person,
      /forms +shown and answered: yes[^]*tasks +taken and asked for \d+ times; its result was fetched[^]*form in the task/,
    ],
    [
      'that pages are opened, but forms not declared',
      { client: 'mcpdo', era: 'modern', transport: 'stdio', person: 'url' },
      person,
      /over stdio[^]*forms +not declared[^]*tasks +taken[^]*pages +opened after/,
    ],
  ] as const satisfies readonly [string, Row, Ask, RegExp][]) {
    it(`finds ${finds}: ${row.client}`, async () => {
      const client = await openClient({ row, endpoint: row.transport === 'http' ? http : stdio, ask });
      let { text } = await client.call('check_client', {});
      for (let calls = 0; calls < 6 && !text.startsWith('Done.'); calls += 1)
        ({ text } = await client.call('check_client', text.includes('words=') ? { words: 'maple' } : {}));
      await client.close();
      assert.match(text, found);
    });
  }
});
