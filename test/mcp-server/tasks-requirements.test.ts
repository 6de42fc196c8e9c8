import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cites, REQUIREMENTS } from './tasks-requirements.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const testFiles = ['test/mcp-server', 'test/conformance'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, file)),
);

describe('the requirements of the Tasks extension', () => {
  it('are each cited by a test', () => {
    const cited = new Set(
      testFiles
        .flatMap((file) => [...read(file).matchAll(/\bcites\(([^)]*)\)/g)])
        .flatMap(([, ids]) => [...(ids ?? '').matchAll(/'([^']+)'/g)])
        .map(([, id]) => id),
    );
    assert.deepEqual(
      Object.entries(REQUIREMENTS)
        .filter(([id]) => !cited.has(id))
        .map(([id, words]) => `${id}: ${words}`),
      [],
    );
  });

  it(
    'are met by code that knows neither tools nor devices, so that other requests can become tasks',
    cites('create.other-requests'),
    () => {
      const files = [
        'tasks',
        'task-snapshot',
        'task-subscriptions',
        'mended-answers',
        'listen-message',
        'listen-http',
        'listen-stdio',
        'event-stream',
        'service',
        'tool-calls',
      ];
      const strangers = files.flatMap((file) =>
        [...read(`mcp-server/${file}.ts`).matchAll(/from '(\.[^']+)'/g)]
          .map(([, specifier]) => specifier ?? '')
          .filter((specifier) =>
            /^\.\.\/(?!tracing\/)|command|\/tools\/|waiting|structured|server\.ts/.test(specifier),
          )
          .map((specifier) => `${file}.ts imports ${specifier}`),
      );
      assert.deepEqual(strangers, []);
    },
  );
});
