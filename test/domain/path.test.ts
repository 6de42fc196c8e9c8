import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fillPath, fillTopic } from '../../domain/path.ts';

const filled = (template: string, values: Readonly<Record<string, string>>) => {
  const result = fillPath(template, (name) => values[name]);
  return result.ok ? result.path : result.why;
};

describe('filling a path', () => {
  it('encodes values, in segments and in the query', () => {
    assert.equal(
      filled('/units/{id}/mode?q={q}', { id: 'a/b?c#d e', q: 'x&y=z/..' }),
      '/units/a%2Fb%3Fc%23d%20e/mode?q=x%26y%3Dz%2F..',
    );
    assert.equal(filled('/rpc?id={channel}', { channel: '0' }), '/rpc?id=0');
  });

  it('refuses values that would climb out of their segment', () => {
    for (const id of ['.', '..'])
      assert.match(filled('/units/{id}/mode', { id }), /would leave its place/, id);
    assert.match(filled('/units/{a}{b}', { a: '.', b: '.' }), /would leave its place/);
    assert.match(filled('/units/%2e{a}', { a: '.' }), /would leave its place/);
    assert.equal(filled('/units/{id}', { id: '...' }), '/units/...');
    assert.equal(filled('/units/{id}', { id: '%2e%2e' }), '/units/%252e%252e');
  });

  it('refuses a value that is absent, empty or no valid text', () => {
    assert.match(filled('/units/{id}', {}), /\{id\} in \/units\/\{id\} has no value/);
    assert.match(filled('/units/{id}', { id: '' }), /has no value/);
    assert.match(filled('/units/{id}', { id: '\ud800' }), /no valid text/);
    assert.equal(filled('/units?q={q}', { q: '' }), '/units?q=');
  });

  it('refuses templates that are no path of the API', () => {
    for (const template of [
      'units',
      '//evil.example/x',
      '/\\evil.example',
      'http://evil.example',
      '/a#b',
      '/a/../b',
      '',
    ]) {
      assert.match(filled(template, {}), /no path|would leave/, template);
    }
  });

  it('keeps any value whole inside its own segment, under the same origin', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (id, q) => {
        const result = fillPath('/v1/units/{id}/mode?q={q}&r=1', (name) => ({ id, q })[name]);
        if (!result.ok)
          return assert.ok(['.', '..'].includes(id) || [id, q].some((text) => /\p{Cs}/u.test(text)));
        const url = new URL(`http://device.lan:4100/base${result.path}`);
        assert.equal(url.origin, 'http://device.lan:4100');
        const segments = url.pathname.split('/');
        assert.deepEqual(
          [segments.length, segments[1], segments[2], segments[3], segments[5]],
          [6, 'base', 'v1', 'units', 'mode'],
        );
        assert.equal(decodeURIComponent(segments[4] ?? ''), id);
        assert.deepEqual(
          [...url.searchParams],
          [
            ['q', q],
            ['r', '1'],
          ],
        );
        assert.equal(url.hash, '');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('filling a topic', () => {
  it('keeps names with slashes, and refuses wildcards and emptiness', () => {
    const topic = (name: string) => fillTopic('zigbee2mqtt/{topic}/set', () => name);
    assert.deepEqual(topic('study/desk'), { ok: true, path: 'zigbee2mqtt/study/desk/set' });
    for (const name of ['', '#', '+', 'a\0b']) assert.equal(topic(name).ok, false, JSON.stringify(name));
  });
});
