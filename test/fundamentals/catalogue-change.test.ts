/** The catalogue changes while commands are under way: each is still carried out as it was meant, or not at all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Harness, startReadback } from '../harness/readback.ts';

const NAMES = ['hall', 'attic', 'cellar', 'porch', 'shed'] as const;
const DEVICES = Object.fromEntries(
  NAMES.map((name) => [
    name,
    { state: { brightness: 0 }, follows: name === 'hall' || name === 'cellar' ? '3s' : '0s' },
  ]),
);

/** `left`: which are left out. `hint`: of every lamp. */
function catalogue({ left = [] as readonly string[], hint = 'A lamp.', timeout = '5s' } = {}): string {
  const lamps = NAMES.filter((name) => !left.includes(name)).map(
    (name) =>
      `  ${name}: { connection: sim, send: { request: PUT /devices/${name}, repeatable: true }, read: GET /devices/${name}, fields: { brightness: percent }, hint: ${hint}${name === 'hall' ? ', settle: { first: 2s, every: 2s }' : ''} }`,
  );
  return `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:", timeout: ${timeout} } }
defaults: { settle: { first: 100ms, every: 200ms, within: 4s, stable: 200ms }, deliver: { within: 3s } }
devices:
${lamps.join('\n')}
approvals: [{ for: { field: brightness, above: 50 }, by: operator }]
`;
}

describe('a catalogue that changes under way', () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({ devices: DEVICES, catalogue: catalogue() });
  });
  after(() => readback.close());

  const sends = async (device: string): Promise<number> =>
    (await readback.admin('GET', `/devices/${device}`)).counters.sends.arrived;
  const until = async (commandId: string, phase: string): Promise<void> => {
    const found = await readback.commands.wait(
      commandId,
      { kind: 'operator' },
      { timeoutMs: 10_000, until: ({ view }) => view.phase === phase },
    );
    assert.equal(found?.view.phase, phase);
  };

  it('lets what has been sent be verified all the same, though its connection has changed as well', async () => {
    const commandId = await readback.submit('cellar', { brightness: 40 });
    await until(commandId, 'settling');
    await readback.changeCatalogue(catalogue({ hint: 'Another one.', timeout: '6s' }));
    const { view } = await readback.ended(commandId);
    assert.equal(view.result?.outcome, 'verified');
    assert.equal(await sends('cellar'), 1);
  });

  it('says of what has been sent that nobody can read it any more, once its device is gone', async () => {
    // It is read so seldom that each reading is an attempt of its own.
    const commandId = await readback.submit('hall', { brightness: 20 });
    await until(commandId, 'settling');
    await readback.changeCatalogue(catalogue({ left: ['hall'] }));
    const { view } = await readback.ended(commandId, 20_000);
    assert.equal(view.result?.outcome, 'unreadable');
    assert.match(view.result?.fields['brightness']?.detail ?? '', /is not in the catalogue/);
    assert.equal(view.sent.count, 1);
    await readback.changeCatalogue(catalogue());
  });

  it('voids an approval that was asked for by the old definition', async () => {
    const commandId = await readback.submit('attic', { brightness: 80 });
    await until(commandId, 'waiting_for_approval');
    await readback.changeCatalogue(catalogue({ hint: 'Not as before.' }));
    await readback.commands.decide(commandId, {
      decision: 'approved',
      by: 'ann',
      via: 'console',
      comment: null,
    });
    const { view } = await readback.ended(commandId);
    assert.equal(view.result?.outcome, 'expired');
    assert.equal(await sends('attic'), 0);
  });

  it('ends a command that only the server knows a device for, in the time that it has, with nothing sent', async () => {
    await readback.changeCatalogue(catalogue({ left: ['porch'] }), ['worker']);
    const { view } = await readback.carryOut('porch', { brightness: 10 });
    assert.equal(view.result?.outcome, 'undelivered');
    assert.match(
      view.result?.detail ?? '',
      /porch is not in the catalogue that the worker has loaded.*Nothing was sent/,
    );
    assert.equal(await sends('porch'), 0);
    const askedAt = Date.now();
    await assert.rejects(
      readback.commands.readState('porch'),
      /porch is not in the catalogue that the worker has loaded/,
    );
    assert.ok(Date.now() - askedAt > 1_000, 'a worker that is a moment late gets a moment');
  });
});
