import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { parseDesired, withFields } from '../../domain/desired.ts';
import { celsius, choice, device, field, onoff, percent } from './definitions.ts';

const mode = choice('mode', { cool: 'cooling', heat: 'heating', fan_only: 'fanOnly' });
const ac = device([
  onoff(),
  mode,
  celsius({ appliesWhen: { mode: ['cool', 'heat'] } }),
  field('load', { unit: 'W', readOnly: true }),
]);

function accepted(one: DeviceDefinition, input: unknown) {
  const parsed = parseDesired(one, input);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problems.join(' '));
  return parsed;
}

function problemsOf(one: DeviceDefinition, input: unknown): string {
  const parsed = parseDesired(one, input);
  assert.ok(!parsed.ok, 'it was accepted');
  for (const problem of parsed.problems) assert.match(problem, /Nothing was sent\./);
  return parsed.problems.join(' ');
}

describe('what a caller asks for', () => {
  it('is taken as it is where it fits', () => {
    const parsed = accepted(ac, { power: 'on', mode: 'cool', temperature: 26.5 });
    assert.deepEqual(parsed.desired, { power: 'on', mode: 'cool', temperature: 26.5 });
    assert.deepEqual(parsed.coerced, []);
  });

  it('may be JSON text, and may hold numbers as text; both are said', () => {
    const parsed = accepted(ac, '{"temperature": " 26 "}');
    assert.deepEqual(parsed.desired, { temperature: 26 });
    assert.equal(parsed.coerced.length, 2);
    assert.match(parsed.coerced.join('\n'), /JSON text[\s\S]*temperature: "26" was taken as 26/);
  });

  it('may not hold characters that whoever approves it would not see, but any that are seen', () => {
    const label = device([field('label', { type: 'text' })]);
    for (const unseen of ['open\u202edoor', 'ring\u0007', 'a\u2066b']) {
      const parsed = parseDesired(label, { label: unseen });
      assert.ok(!parsed.ok && /nobody sees/.test(parsed.problems.join()), JSON.stringify(parsed));
    }
    for (const seen of ['Grüße\nüberall', '👨‍👩‍👧', 'שלום'])
      assert.ok(parseDesired(label, { label: seen }).ok);
  });

  it('takes fields that are given later, as the object or the JSON text that it is', () => {
    const later = { temperature: 26 };
    assert.deepEqual(accepted(ac, withFields({ power: 'on' }, later)).desired, {
      power: 'on',
      temperature: 26,
    });
    const parsed = accepted(ac, withFields('{"power": "on"}', later));
    assert.deepEqual(parsed.desired, { power: 'on', temperature: 26 });
    assert.match(parsed.coerced.join(), /JSON text/);
    for (const input of ['warm', '[1]', [1], 7, null]) assert.deepEqual(withFields(input, later), input);
  });

  it('is normalised to our words from other case, truth values and the device’s own words', () => {
    const table: [unknown, string][] = [
      ['Cool', 'cool'],
      [' HEAT ', 'heat'],
      ['cooling', 'cool'],
      ['FANONLY', 'fan_only'],
    ];
    for (const [raw, expected] of table) assert.equal(accepted(ac, { mode: raw }).desired['mode'], expected);
    for (const raw of [true, 1, 'ON', 'true', '1'])
      assert.equal(accepted(ac, { power: raw }).desired['power'], 'on', String(raw));
    assert.match(accepted(ac, { power: true }).coerced.join(), /power: true was taken as on/);
  });

  it('is never derived from a range, which is only how the device shows it', () => {
    const watts = onoff('power', {
      values: [
        { value: 'on', send: 'on', accepts: [{ comparison: '>=', than: 20 }] },
        { value: 'off', send: 'off', accepts: [{ comparison: '<', than: 5 }] },
      ],
    });
    assert.match(problemsOf(device([watts]), { power: 85 }), /power 85 is not one of on \| off/);
    assert.deepEqual(accepted(device([watts]), { power: 'ON' }).desired, { power: 'on' });
  });

  it('is never on because of an empty text, even where the device says that by one', () => {
    const remo = device([choice('power', { on: '', off: 'power-off' })]);
    assert.match(problemsOf(remo, { power: '' }), /power "" is not one of on \| off/);
  });

  it('is refused outside the limits, with the unit that may have been meant', () => {
    assert.equal(
      problemsOf(device([celsius()]), { temperature: 82 }),
      'temperature 82 is outside 16–30 °C for bedroom-ac. Nothing was sent. If you meant °F, that is 27.8 °C: send 27.5 or 28 (step 0.5).',
    );
    assert.equal(
      problemsOf(device([celsius()]), { temperature: '5' }),
      'temperature 5 is outside 16–30 °C for bedroom-ac. Nothing was sent.',
    );
    const inFahrenheit = device([field('temperature', { unit: '°F', min: 60, max: 86, step: 1 })]);
    assert.match(
      problemsOf(inFahrenheit, { temperature: 22 }),
      /If you meant °C, that is 71\.6 °F: send 71 or 72 \(step 1\)\./,
    );
    assert.match(
      problemsOf(device([percent('level')]), { level: 101 }),
      /level 101 is outside 0–100 % for bedroom-ac/,
    );
  });

  it('is refused off the step, with the values beside it', () => {
    assert.equal(
      problemsOf(device([celsius()]), { temperature: 26.2 }),
      'temperature 26.2 is not on a step for bedroom-ac (16–30 °C, step 0.5). Nothing was sent. Send 26 or 26.5.',
    );
    const fromFive = device([celsius({ min: 5, max: 35, step: 10 })]);
    assert.equal(accepted(fromFive, { temperature: 15 }).desired['temperature'], 15);
    assert.match(problemsOf(fromFive, { temperature: 20 }), /Send 15 or 25\./);
    const tenths = device([celsius({ step: 0.1 })]);
    assert.equal(accepted(tenths, { temperature: 20 + 0.1 + 0.2 }).desired['temperature'], 20.3);
  });

  it('is refused where it has the wrong type, saying what is allowed', () => {
    assert.equal(
      problemsOf(device([celsius()]), { temperature: 'warm' }),
      'temperature "warm" is not a number. Nothing was sent. Allowed for bedroom-ac: 16–30 °C, step 0.5.',
    );
    for (const raw of [
      true,
      null,
      [26],
      { value: 26 },
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '',
      '0x1A',
      '26 °C',
    ]) {
      assert.match(problemsOf(device([celsius()]), { temperature: raw }), /is not a number/);
    }
    assert.match(
      problemsOf(ac, { mode: 'coool' }),
      /mode "coool" is not one of cool \| heat \| fan_only for bedroom-ac\. Nothing was sent\. Did you mean cool\?/,
    );
    assert.match(problemsOf(ac, { power: 2 }), /power 2 is not one of on \| off/);
  });

  it('is refused for a field that does not exist, naming those that do', () => {
    assert.equal(
      problemsOf(ac, { temprature: 26 }),
      'bedroom-ac has no field "temprature". Nothing was sent. Did you mean temperature? It takes power (on | off), mode (cool | heat | fan_only), temperature (16–30 °C, step 0.5).',
    );
    assert.match(problemsOf(ac, { mdoe: 'cool' }), /Did you mean mode\?/);
    assert.doesNotMatch(problemsOf(ac, { humidity: 50 }), /Did you mean/);
    assert.match(problemsOf(ac, { Temperature: 26 }), /no field "Temperature".*Did you mean temperature\?/);
  });

  it('is refused for a field that is read only', () => {
    assert.match(
      problemsOf(ac, { load: 5 }),
      /load of bedroom-ac is read only\. Nothing was sent\. It takes power/,
    );
  });

  it('is refused where nothing is asked, or no object', () => {
    assert.match(problemsOf(ac, {}), /desired is empty/);
    assert.match(problemsOf(ac, '{}'), /desired is empty/);
    for (const input of [
      null,
      undefined,
      26,
      true,
      [],
      ['temperature'],
      '',
      'temperature=26',
      '[1]',
      '"on"',
      '{"a":',
    ]) {
      assert.match(problemsOf(ac, input), /not an object of fields to values/, JSON.stringify(input));
    }
    assert.match(problemsOf(ac, `{"temperature": ${' '.repeat(30_000)}26}`), /at most 20000 are read/);
  });

  it('stays short about what is huge', () => {
    const huge = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`field${index}`, 'x'.repeat(1000)]),
    );
    assert.ok(problemsOf(ac, huge).length < 300);
    assert.ok(problemsOf(ac, { mode: 'x'.repeat(1_000_000) }).length < 300);
    assert.ok(problemsOf(ac, { ['y'.repeat(1_000_000)]: 1 }).length < 400);
  });

  it('is refused where it contradicts itself, and left to the device’s state where it may fit', () => {
    assert.equal(
      problemsOf(ac, { mode: 'fan_only', temperature: 22 }),
      "temperature doesn't apply to bedroom-ac with mode fan_only, only with cool | heat. Nothing was sent. Leave temperature out, or ask for mode cool | heat.",
    );
    assert.deepEqual(accepted(ac, { temperature: 22 }).desired, { temperature: 22 });
  });

  it('names what is missing, with its type, unit and range', () => {
    const dual = device(
      [celsius({ name: 'low', requires: ['high'] }), celsius({ name: 'high' })].map((one) => ({ ...one })),
    );
    const parsed = parseDesired(dual, { low: 20 });
    assert.ok(!parsed.ok);
    assert.deepEqual(parsed.missing, ['high']);
    assert.deepEqual(parsed.problems, [
      'low of bedroom-ac must be given together with high (celsius: 16–30 °C, step 0.5). Nothing was sent.',
    ]);
    assert.ok(parseDesired(dual, { low: 20, high: 24 }).ok);
  });

  it('reports all problems at once', () => {
    const parsed = parseDesired(ac, { temperature: 99, mode: 'x', nope: 1 });
    assert.ok(!parsed.ok);
    assert.equal(parsed.problems.length, 3);
  });

  it('is harmless when it names what JavaScript objects have anyway', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      assert.match(problemsOf(ac, `{"${name}": {"polluted": true}}`), new RegExp(`no field "${name}"`));
    }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.match(problemsOf(ac, { mode: 'constructor' }), /is not one of/);
  });

  it('accepts an action only as true', () => {
    const relay = device([field('pulse', { type: 'action', read: null })]);
    for (const raw of [true, 1, 'true'])
      assert.deepEqual(accepted(relay, { pulse: raw }).desired, { pulse: true });
    for (const raw of [false, 0, 'on', null])
      assert.match(problemsOf(relay, { pulse: raw }), /can only be true/, String(raw));
  });

  it('is either refused or within the definition, whatever it is', () => {
    const values = fc.oneof(
      fc.anything(),
      fc.double(),
      fc.integer({ min: 0, max: 40 }),
      fc.constantFrom('on', 'COOL', 'heat', '26', '18.5'),
    );
    const names = fc.oneof(fc.constantFrom('power', 'mode', 'temperature', 'load'), fc.string());
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(names, values, { maxKeys: 4 })), (input) => {
        const parsed = parseDesired(ac, input);
        if (!parsed.ok) return assert.ok(parsed.problems.length > 0);
        const { power, mode: asked, temperature } = parsed.desired;
        assert.ok(
          Object.keys(parsed.desired).every((name) => ['power', 'mode', 'temperature'].includes(name)),
        );
        if (power !== undefined) assert.ok(['on', 'off'].includes(String(power)));
        if (asked !== undefined) assert.ok(['cool', 'heat', 'fan_only'].includes(String(asked)));
        if (temperature !== undefined)
          assert.ok(
            Number(temperature) >= 16 && Number(temperature) <= 30 && (Number(temperature) * 2) % 1 === 0,
          );
      }),
      { numRuns: 1000 },
    );
  });
});
