/** What real clients get, against docs/clients.md, which was written from the same run. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { whatItGets } from '../../mcp-server/client-check/what-it-gets.ts';
import { type Driven, drive } from './drive.ts';
import { type MatrixHouse, openMatrixHouse, rowName } from './house.ts';
import { clientsPage } from './page.ts';
import { pairwise } from './pairs.ts';
import { ROWS, type Row } from './rows.ts';
import type { Declared, Step } from './story.ts';

const PAGE = join(import.meta.dirname, '../../docs/clients.md');
/** What was seen first, and the promise that it keeps. A task is no answer to a question. */
const GETS = {
  'a handle': 'handle',
  'the result of the task': 'task',
  queue: 'queue',
  'an input error': 'error',
  'form in the task': 'formInTask',
  'form by `input_required`': 'formInAnswer',
  'form by `elicitation/create`': 'formDuringCall',
} as const satisfies Partial<Record<Step, string>>;
/** They mostly wait. */
const AT_ONCE = 7;

describe('a client', () => {
  let house: MatrixHouse;
  const driven = new Map<string, Driven>();
  before(async () => {
    house = await openMatrixHouse(ROWS);
  });
  after(() => house.close());

  describe('driven through every situation', { concurrency: AT_ONCE }, () => {
    for (const row of ROWS) {
      it(`never shows more than the device did: ${rowName(row)}`, async () => {
        driven.set(rowName(row), await drive(house, row));
      });
    }
  });

  it('gets what `readback doctor --client` says of one that declares the same', () => {
    for (const { row, declared, situations } of driven.values()) {
      const gets = whatItGets(requesterOf(row, declared));
      const { slow, requester, operator, missing } = situations;
      const first = [slow, requester, operator, missing].map(({ steps }) =>
        steps.find((step) => step in GETS),
      );
      const promised = [gets.slow, gets.requester, gets.operator, gets.missing];
      assert.deepEqual(
        first.map((step) => GETS[step as keyof typeof GETS]),
        // The page of an approval is for those who can sign in at the console, and here nobody can.
        promised.map((promise) => (promise === 'page' ? 'queue' : promise)),
        rowName(row),
      );
    }
  });

  it('gets what docs/clients.md says; `npm run docs:clients` writes what it gets now', () => {
    const seen = ROWS.flatMap((row) => driven.get(rowName(row)) ?? []);
    assert.equal(seen.length, ROWS.length, 'every row was driven to its end');
    const page = clientsPage(seen);
    if (process.env['WRITE_DOCS'] !== undefined) writeFileSync(PAGE, page);
    assert.equal(page, readFileSync(PAGE, 'utf8'));
  });
});

/** As the server knows it. */
function requesterOf(row: Row, declared: Declared): Parameters<typeof whatItGets>[0] {
  return {
    tasks: row.era === 'modern' && declared.tasks,
    legacy: row.era === 'legacy',
    unattended: row.person === 'unattended',
    elicitation: {
      form: declared.elicitation.includes('form'),
      url: declared.elicitation.includes('url'),
    },
  };
}

describe('pairwise rows', () => {
  it('hold every pair that is possible, in fewer rows than there are combinations', () => {
    const factors = { a: ['1', '2', '3'], b: ['x', 'y'], c: ['p', 'q', 'r'] } as const;
    const rows = pairwise(factors, ({ a, b }) => a !== '3' || b === 'x');
    const holds = (fits: (row: (typeof rows)[number]) => boolean) => rows.some(fits);
    for (const c of factors.c) {
      for (const a of factors.a) assert.ok(holds((row) => row.a === a && row.c === c));
      for (const b of factors.b) assert.ok(holds((row) => row.b === b && row.c === c));
    }
    assert.ok(holds(({ a, b }) => a === '3' && b === 'x'));
    assert.ok(!holds(({ a, b }) => a === '3' && b === 'y'));
    assert.ok(rows.length < 15);
  });
});
