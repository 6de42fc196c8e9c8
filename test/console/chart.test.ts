import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chart } from '../../console/pages/chart.ts';
import type { SampleRun } from '../../domain/outcome.ts';
import type { Value } from '../../domain/values.ts';

const run = (value: Value | null, firstAt: number, lastAt: number): SampleRun => ({
  field: 'x',
  value,
  note: null,
  firstAt,
  lastAt,
  reads: 2,
});

async function drawn(
  desired: Value,
  runs: readonly SampleRun[],
  unit: string | null = null,
): Promise<string> {
  const html = await chart({
    field: 'x',
    view: { desired: { x: desired }, units: { x: unit } },
    runs,
    sends: [0],
  });
  return String(html);
}

const path = (svg: string): string => /<path class="read" d="([^"]*)"/.exec(svg)?.[1] ?? '';
const heightOf = (svg: string): number => Number(/class="desired"[^>]* y1="([\d.]+)"/.exec(svg)?.[1]);

describe('the chart of desired against read', () => {
  it('draws numbers to scale: greater is higher, and the line ends on the desired one', async () => {
    const svg = await drawn(26, [run(20, 1000, 2000), run(23, 3000, 3000), run(26, 4000, 5000)], '°C');
    const heights = [...path(svg).matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
    assert.deepEqual(heights.length, 6);
    const [low = 0, , middle = 0, , high = 0] = heights;
    assert.ok(low > middle && middle > high, path(svg));
    assert.ok(Math.abs(middle - (low + high) / 2) < 0.2);
    assert.equal(high, heightOf(svg));
    assert.match(svg, /aria-label="x: desired 26 °C, last read 26 °C, over 5 s"/);
  });

  it('gives each word a line of its own', async () => {
    const svg = await drawn('open', [
      run('closed', 0, 1000),
      run('opening', 2000, 3000),
      run('open', 4000, 5000),
    ]);
    for (const word of ['closed', 'opening', 'open']) assert.ok(svg.includes(`>${word}</text>`), word);
    assert.equal(Number(/ ([\d.]+)$/.exec(path(svg))?.[1]), heightOf(svg));
  });

  it('breaks the line where nothing could be read, and says so', async () => {
    const svg = await drawn(26, [run(20, 1000, 2000), run(null, 3000, 4000), run(26, 5000, 6000)]);
    assert.equal(path(svg).match(/M/g)?.length, 2);
    assert.match(svg, /class="unreadable"[^>]*><title>unreadable/);
  });

  it('has no number that is none, also for a single reading equal to the desired one, or none that can be read', async () => {
    for (const runs of [[run(26, 0, 0)], [run(null, 0, 0)], [run('a', 0, 0), run(26, 1, 1)]])
      assert.doesNotMatch(await drawn(26, runs), /NaN|Infinity|undefined/);
  });

  it('writes what a device says as text', async () => {
    const svg = await drawn('"><script>', [run('<b>', 0, 1000)]);
    assert.doesNotMatch(svg, /<script|<b>/);
  });
});
