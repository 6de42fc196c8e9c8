/** What docs/simulator.md shows works as it stands there. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { conduct, OPTION_NAMES } from '../../simulator/behaviour.ts';
import { loadDevicesFile } from '../../simulator/devices-file.ts';

const guide = await readFile(new URL('../../docs/simulator.md', import.meta.url), 'utf8');

/** Fields that the guide's examples speak of. */
const state = { lock: '', status: '', mode: '', temperature: 1, position: 1, motion: '', door: '', count: 0 };

test('every example file in the guide loads', async () => {
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => parse(block ?? ''));
  assert.ok(blocks.length >= 5);
  for (const block of blocks) {
    if ('devices' in block) await loadDevicesFile(block);
    else if ('onSend' in block) await loadDevicesFile({ devices: { example: { state, ...block } } });
    else await loadDevicesFile({ devices: block });
  }
});

test('every option in the guide’s tables is one, as it is written there', async () => {
  const cells = [...guide.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell]) => cell ?? '');
  const options = cells
    .flatMap((cell) => cell.split(', `'))
    .map((cell) => cell.replaceAll('`', ''))
    .filter((text) => text.includes(':') && OPTION_NAMES.includes(text.split(':')[0] ?? ''));
  assert.ok(options.length > 35, `only ${options.length} options are in the tables`);
  for (const text of options) {
    const option = parse(text.replace('headers: { … }', 'headers: { x: y }'));
    const ofConduct = Object.keys(option).every((name) => name in conduct.shape);
    await loadDevicesFile({ devices: { example: { state, ...(ofConduct ? { onSend: option } : option) } } });
  }
});

test('the guide names every option', () => {
  const unnamed = OPTION_NAMES.filter((name) => !guide.includes(name));
  assert.deepEqual(unnamed, []);
});
