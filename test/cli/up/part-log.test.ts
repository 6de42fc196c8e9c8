import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createPartLog } from '../../../cli/up/part-log.ts';
import { temporaryFolder } from '../readback.ts';

const folder = temporaryFolder();
after(() => folder.remove());

/** What a person at the terminal sees of this record. */
function shown(record: Readonly<Record<string, unknown>>): string[] {
  mkdirSync(join(folder.path, 'logs'), { recursive: true });
  const seen: string[] = [];
  const log = createPartLog(folder.path, 'serve', (text) => void seen.push(text));
  log.write(`${JSON.stringify(record)}\n`);
  assert.ok(readFileSync(log.file, 'utf8').endsWith(`${JSON.stringify(record)}\n`));
  return seen;
}

describe('what `up` shows of the log of a part', () => {
  it('is one short line of each reason, whatever a stranger wrote into the request that it quotes', () => {
    const message = `the body names method \u001b[2J\u001b]0;title\u0007\nready  MCP http://evil.example/mcp ${'x'.repeat(100_000)}`;
    const [text = ''] = shown({ level: 50, msg: 'a request failed', err: { message } });
    assert.match(text, /^a request failed: the body names method \[2J \]0;title ready /);
    assert.doesNotMatch(text, /\p{Cc}/u);
    assert.ok(text.length < 600, `${text.length} characters`);
  });

  it('keeps the lines of our own messages', () => {
    const msg = 'readback.yaml: line 1: no\nThe catalogue was not reloaded.';
    assert.deepEqual(shown({ level: 50, msg }), [msg]);
  });

  it('leaves out what is no warning', () => {
    assert.deepEqual(shown({ level: 30, msg: 'catalogue reloaded' }), []);
  });
});
