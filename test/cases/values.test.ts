/** What becomes of a command when the value read is not the value asked, letter by letter: the cases V1 to V7. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type House, like, openHouse, SIDE_BY_SIDE } from './house.ts';

const SPELLINGS = ['truth', 'one', 'lower', 'title', 'upper'];
const NOTHING_READ = { null: null, empty: '', unknown: 'unknown', unavailable: 'unavailable', nan: 'NaN' };

describe('values', { concurrency: SIDE_BY_SIDE }, () => {
  let house: House;
  before(async () => {
    house = await openHouse((cases) => ({
      ...Object.assign({}, ...SPELLINGS.map((spelling) => like(cases, 'v4-switch', `v4-${spelling}`))),
      ...Object.assign(
        {},
        ...['number', 'text', 'decimals', 'nonsense'].map((form) => like(cases, 'v5-heater', `v5-${form}`)),
      ),
      ...Object.assign(
        {},
        ...Object.entries(NOTHING_READ).map(([name, shows]) =>
          like(cases, `v7-${name}`, `v7-${name}-for-good`, { blank: { for: '1h', shows } }),
        ),
      ),
    }));
  });
  after(() => house.readback.close());

  const observed = ({ snapshot }: Awaited<ReturnType<House['show']>>, field: string) =>
    snapshot.view.result?.fields[field]?.observed ?? null;

  for (const device of ['v1-ac', 'v1-ac-celsius']) {
    it(`V1: 73 °F that the device keeps as 22.7 °C is its nearest step (${device})`, async () => {
      const shown = await house.show(device, { temperature: 73 });
      assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
      assert.equal(shown.snapshot.view.result?.adjusted, true);
      const { value, unit } = observed(shown, 'temperature') ?? {};
      assert.deepEqual([value, unit], [72.9, '°F']);
      assert.match(shown.message, /reads 72.9 °F, the device's nearest step to 73 °F/);
    });
  }

  it('V2: a blind that rests at 69 has reached 70, and a number under `moving` is no movement', async () => {
    const shown = await house.show('v2-blind', { position: 70 });
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    assert.equal(shown.snapshot.view.result?.adjusted, true);
    assert.equal(observed(shown, 'position')?.value, 69);
  });

  it('V3: what is verified is a real read of 254, not the echo of 255', async () => {
    const shown = await house.show('v3-lamp', { brightness: 100 });
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    assert.equal(observed(shown, 'brightness')?.value, 99.6);
    const { samples = [] } = shown.snapshot.view.result ?? {};
    const [last] = samples.slice(-1);
    assert.deepEqual([Math.round(Number(last?.value) * 2.55), last?.field], [254, 'brightness']);
    assert.ok((last?.reads ?? 0) >= 2, 'the echo is a run of its own in the evidence');
  });

  for (const spelling of SPELLINGS) {
    it(`V4: on is on, however it is spelt (${spelling})`, async () => {
      const shown = await house.show(`v4-${spelling}`, { power: 'on' });
      assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
      assert.deepEqual(
        [shown.snapshot.view.previous['power'], observed(shown, 'power')?.value],
        ['off', 'on'],
      );
    });
  }

  for (const form of ['number', 'text', 'decimals']) {
    it(`V5: 26 is 26, as a number and as a text (${form})`, async () => {
      const shown = await house.show(`v5-${form}`, { temperature: 26 });
      assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
      assert.equal(observed(shown, 'temperature')?.value, 26);
    });
  }

  it('V5: "on" is no number, and is equal to none', async () => {
    const { outcome, sends, verdicts, detail } = await house.show('v5-nonsense', { temperature: 26 });
    assert.deepEqual([outcome, sends, verdicts], ['unreadable', 1, { temperature: 'unreadable' }]);
    assert.match(detail, /"on" is not a number/);
  });

  it('V6: a boiler whose API says true and that ends elsewhere is different, and not sent to again', async () => {
    const { outcome, sends, safeToSendAgain, message } = await house.show('v6-boiler', { target: 80 });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['different', 1, false]);
    assert.match(message, /asked 80 °C, got 50 °C/);
  });

  for (const name of Object.keys(NOTHING_READ)) {
    it(`V7: no reading is waited out (${name})`, async () => {
      const shown = await house.show(`v7-${name}`, { value: 30 });
      assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
      const [first] = shown.snapshot.view.result?.samples ?? [];
      assert.equal(first?.value, null, 'while it lasted it was no value at all');
    });

    it(`V7: no reading that lasts is unreadable, and equal to nothing (${name})`, async () => {
      const { outcome, sends, verdicts, snapshot } = await house.show(`v7-${name}-for-good`, { value: 30 });
      assert.deepEqual([outcome, sends, verdicts], ['unreadable', 1, { value: 'unreadable' }]);
      assert.equal(snapshot.view.result?.fields['value']?.observed, null);
    });
  }

  it('V7: a body with NaN in it, which is no JSON, is unreadable and travels nowhere', async () => {
    const { outcome, sends, snapshot } = await house.show('v7-nan-body', { value: 30 });
    assert.deepEqual([outcome, sends], ['unreadable', 1]);
    assert.doesNotMatch(JSON.stringify(snapshot.view.result?.fields), /NaN/);
  });
});
