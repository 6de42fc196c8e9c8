import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type House, openHouse, type Serving } from './serving.ts';
import { envelope, TASKS_AND_FORMS } from './wire.ts';

const YES = { action: 'accept', content: { approve: true } };

/** One of each kind, valid but for the ids; none of them starts anything by itself. */
const REQUESTS = [
  [
    'tools/call',
    {
      name: 'set_device_state',
      arguments: {
        device: 'dead-lamp',
        desired: { brightness: 101 },
        reason: 'r',
        requestId: 'q',
        dryRun: false,
        resendOf: 'c',
      },
    },
  ],
  ['tools/call', { name: 'get_command', arguments: { commandId: 'c', waitSeconds: 0 } }],
  ['tools/call', { name: 'list_devices', arguments: { query: 'q', limit: 3, cursor: 'c' } }],
  ['tools/call', { name: 'cancel_command', arguments: { commandId: 'c' } }],
  ['tasks/get', { taskId: 'c' }],
  ['tasks/update', { taskId: 'c', inputResponses: { 'approve-1': YES } }],
  ['tasks/cancel', { taskId: 'c' }],
  ['tools/list', {}],
  ['server/discover', {}],
] as const;

type Path = readonly [string, ...string[]];

function pathsIn(value: unknown, path: readonly string[] = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [...path, key] as unknown as Path,
    ...pathsIn(member, [...path, key]),
  ]);
}

/** `value` with what is at `path` replaced; undefined removes it. */
function withChange(value: any, [key, ...rest]: Path, to: unknown): unknown {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (rest.length > 0) copy[key] = withChange(copy[key], rest as unknown as Path, to);
  else if (to === undefined) delete copy[key];
  else copy[key] = to;
  return copy;
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    undefined,
    null,
    '',
    '\u202e\u0000',
    'x'.repeat(20_000),
    '{"a":1}',
    { method: 'x', result: {} },
    [[[[]]]],
    1e308,
    -1,
    12.5,
  ),
);

const mutated = fc
  .constantFrom(...REQUESTS)
  .map(([method, params]) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { ...params, _meta: envelope(TASKS_AND_FORMS) },
  }))
  .chain((request) =>
    fc.tuple(fc.constantFrom(...pathsIn(request)), odd).map(([path, to]) => withChange(request, path, to)),
  );

describe('malformed requests', () => {
  let house: House;
  let serving: Serving;
  before(async () => {
    house = await openHouse();
    serving = await house.serve({ taskGraceMs: 0, syncWaitMs: 100 });
  });
  after(() => house.close());

  const nameOf = (body: any): unknown => body?.params?.name ?? body?.params?.taskId;
  const fitsHeader = (value: unknown): value is string =>
    typeof value === 'string' && /^[\w/-]{1,100}$/.test(value);

  it('are answered with an error that names no internals, never with a crash or a hang, and start nothing', async () => {
    await fc.assert(
      fc.asyncProperty(mutated, async (body: any) => {
        const response = await fetch(`${serving.url}/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': '2026-07-28',
            ...(fitsHeader(body?.method) && { 'mcp-method': body.method }),
            ...(fitsHeader(nameOf(body)) && { 'mcp-name': nameOf(body) as string }),
          },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(10_000),
        });
        const text = await response.text();
        assert.ok(response.status < 500, `${response.status}: ${text}`);
        assert.doesNotMatch(text, /-32603|\.ts:\d|node_modules|\n {4}at /);
      }),
      { numRuns: 400, seed: 20260728 },
    );
    const started = await house.harness.commands.list({ kind: 'operator' }, { limit: 10 });
    assert.deepEqual(
      started.map(({ view }) => view.desired),
      [],
    );
  });
});
