import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAll } from './opened.ts';

const device = (connection: string, rest = 'send: PUT /d, read: GET /d, fields: { power: onoff }') =>
  `{ connection: ${connection}, ${rest} }`;

test('devices of one connection share its adapter, and with it the budget', async () => {
  const open = await openAll(`
version: 1
connections: { a: { kind: http, baseUrl: "http://127.0.0.1:1" }, b: { kind: http, baseUrl: "http://127.0.0.1:1" } }
devices: { one: ${device('a')}, two: ${device('a')}, three: ${device('b')} }
`);
  assert.equal(open('one').adapter, open('two').adapter);
  assert.notEqual(open('one').adapter, open('three').adapter);
});

test('every connection that can not be used is named at once, with the devices that need it', async () => {
  const yaml = `
version: 1
connections:
  broker: { kind: mqtt, url: "mqtts://127.0.0.1:8883", tls: { ca: /no/such/broker.pem } }
  hue: { kind: http, baseUrl: "https://127.0.0.1:1", tls: { ca: /no/such/authority.pem } }
  unused: { kind: mqtt, url: "mqtts://127.0.0.1:8883", tls: { ca: /no/such/broker.pem } }
devices:
  lamp: ${device('broker', 'send: { topic: lamp/set }, read: { topic: lamp }, fields: { power: onoff }')}
  bulb: ${device('hue')}
`;
  await assert.rejects(openAll(yaml), (error: Error) => {
    const lines = error.message.split('\n');
    assert.deepEqual(lines, [
      'connection "broker": its tls.ca file /no/such/broker.pem can\'t be read (needed by lamp)',
      'connection "hue": its tls.ca file /no/such/authority.pem can\'t be read (needed by bulb)',
    ]);
    return true;
  });
});
