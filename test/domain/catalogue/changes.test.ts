import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '../../../domain/catalogue/changes.ts';
import { loadCatalogue } from '../../../domain/catalogue/load.ts';

async function catalogue(yaml: string, token = 'a token that nobody knows') {
  const loaded = await loadCatalogue({
    file: 'test.yaml',
    readFile: () =>
      `connections: { vendor: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { bearer: "\${TOKEN}" } } }\n${yaml}`,
    environment: { TOKEN: token },
  });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.catalogue;
}

const heater = (max = 30) =>
  `{ connection: vendor, send: PUT /h, read: GET /h, fields: { target: { type: celsius, min: 5, max: ${max} } } }`;

test('what has come, gone and changed is named by its kind', async () => {
  const before = await catalogue(`devices: { one: ${heater()}, two: ${heater()}, three: ${heater()} }`);
  const after = await catalogue(
    `devices: { two: ${heater()}, three: ${heater(28)}, four: ${heater()} }\napprovals: [{ by: operator }]\nsettings: { operatorWait: task }`,
  );
  assert.equal(
    changesBetween(before, after),
    'devices added: four; devices removed: one; devices changed: three; approval rules changed; settings changed',
  );
  assert.equal(changesBetween(before, before), null);
});

test('a changed secret is told, and what it is is not', async () => {
  const one = `devices: { one: ${heater()} }`;
  const told = changesBetween(await catalogue(one), await catalogue(one, 'another token of mine'));
  assert.equal(told, 'connections changed: vendor');
});

test('of many names some are told, and the number of the rest', async () => {
  const many = Array.from({ length: 25 }, (_, index) => `d${index}: ${heater()}`).join(', ');
  const told = changesBetween(await catalogue('devices: {}'), await catalogue(`devices: { ${many} }`));
  assert.match(told ?? '', /^devices added: d0, .*, d9 and 15 more$/);
});
