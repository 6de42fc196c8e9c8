/** Secrets go to the device, and nowhere else: random ones are looked for in all that Readback says, keeps and logs. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { commandMessage } from '../../domain/message.ts';
import { type Harness, LOCAL, startReadback } from '../harness/readback.ts';

const random = (): string => randomBytes(12).toString('base64url').replaceAll(/[-_]/g, 'x');
const SECRETS = {
  // With a sign in it, since any four digits are somewhere in a history.
  PIN: `${randomInt(10, 99)}#${randomInt(10, 99)}`,
  LONG_PIN: `${randomInt(100_000, 999_999)}${randomInt(100_000, 999_999)}`,
  PASSWORD: random(),
  CLIENT_SECRET: random(),
  REFRESH: random(),
  WRONG: random(),
  KEY: random(),
};

const DEVICES = {
  // Echoes what it was told, the code included; refuses a wrong one and quotes it.
  door: {
    state: { lock: 'locked', code: '' },
    fields: { code: { refuses: [{ notIn: [SECRETS.PIN], body: { error: 'wrong code', asked: '$code' } }] } },
  },
  safe: {
    state: { lock: 'locked', code: '' },
    onSend: {
      status: 400,
      acts: 'never',
      body: { error: `bad code ${SECRETS.LONG_PIN}!`, code: SECRETS.LONG_PIN },
    },
  },
  pump: { state: { power: 'off' }, auth: 'cloud' },
  camera: { state: { power: 'off' }, auth: { digest: { username: 'admin', password: SECRETS.PASSWORD } } },
  bridge: { state: { power: 'off' }, auth: { login: { username: 'me', password: SECRETS.PASSWORD } } },
  relay: {
    state: { power: 'off' },
    auth: { sign: { secret: SECRETS.KEY, over: '{body}', header: 'x-signature' } },
    onRead: { body: { power: '$power', hint: `your key is ${SECRETS.KEY}` } },
  },
  lost: {
    state: { power: 'off' },
    auth: { oauth: { clientId: 'readback', clientSecret: 'of somebody else' } },
  },
};

const CATALOGUE = `
version: 1
defaults: { settle: { first: 10ms, every: 20ms, stable: 20ms, within: 3s } }
connections:
  plain: { kind: http, baseUrl: "simulator:/devices", secrets: { pin: "\${PIN}", long: "\${LONG_PIN}" } }
  cloud: { kind: http, baseUrl: "simulator:/devices", auth: { oauth: { tokenUrl: "simulator:/sign-in/cloud", clientId: readback, clientSecret: "\${CLIENT_SECRET}", refreshToken: "\${REFRESH}" } } }
  cam: { kind: http, baseUrl: "simulator:/devices", auth: { digest: { username: admin, password: "\${PASSWORD}" } } }
  house: { kind: http, baseUrl: "simulator:", auth: { login: { request: POST /sign-in/bridge, username: me, password: "\${PASSWORD}", pick: body.token, expires: body.expiresIn } } }
  signed: { kind: http, baseUrl: "simulator:/devices", auth: { sign: { preset: body-hmac, secret: "\${KEY}" } } }
  strange: { kind: http, baseUrl: "simulator:/devices", auth: { oauth: { tokenUrl: "simulator:/sign-in/lost", clientId: readback, clientSecret: "\${WRONG}" } } }
devices:
  door: { connection: plain, send: { request: PUT /door, body: { lock: =$wire.lock, code: =$secret.pin } }, read: GET /door, fields: { lock: { type: enum, values: [locked, unlocked] }, code: { type: text, readOnly: true } } }
  safe: { connection: plain, send: { request: PUT /safe, body: { lock: =$wire.lock, code: =$secret.long } }, read: GET /safe, fields: { lock: { type: enum, values: [locked, unlocked] } } }
  pump: { connection: cloud, send: PUT /pump, read: GET /pump, fields: { power: onoff } }
  camera: { connection: cam, send: PUT /camera, read: GET /camera, fields: { power: onoff } }
  bridge: { connection: house, send: PUT /devices/bridge, read: GET /devices/bridge, fields: { power: onoff } }
  relay: { connection: signed, send: { request: PUT /relay, repeatable: true }, read: GET /relay, fields: { power: onoff, hint: { type: text, readOnly: true } } }
  lost: { connection: strange, send: PUT /lost, read: GET /lost, fields: { power: onoff } }
`;

describe('secrets', () => {
  let readback: Harness;
  let logged = '';
  const write = process.stderr.write;
  before(async () => {
    readback = await startReadback({
      devices: DEVICES,
      accounts: {
        cloud: {
          oauth: {
            clientId: 'readback',
            clientSecret: SECRETS.CLIENT_SECRET,
            refreshToken: SECRETS.REFRESH,
            rotates: true,
          },
        },
      },
      catalogue: CATALOGUE,
      environment: SECRETS,
    });
    process.stderr.write = (chunk: string | Uint8Array): boolean => {
      logged += Buffer.from(chunk).toString();
      return true;
    };
  });
  after(async () => {
    process.stderr.write = write;
    await readback.close();
  });

  /** Everything in a history, payloads decoded. */
  function textIn(part: unknown): string {
    if (part instanceof Uint8Array) return Buffer.from(part).toString('utf8');
    if (Array.isArray(part)) return part.map(textIn).join('\n');
    if (typeof part === 'object' && part !== null) return Object.values(part).map(textIn).join('\n');
    return String(part);
  }

  it('reach the device, and are in no result, message, dry run, reading, history, memo or log', async () => {
    const ended = await Promise.all([
      ...['pump', 'camera', 'bridge', 'relay', 'lost'].map((device) =>
        readback.carryOut(device, { power: 'on' }),
      ),
      ...['door', 'safe'].map((device) => readback.carryOut(device, { lock: 'unlocked' })),
    ]);
    assert.deepEqual(
      ended.map(({ view }) => [view.device, view.result?.outcome]),
      [
        ['pump', 'verified'],
        ['camera', 'verified'],
        ['bridge', 'verified'],
        ['relay', 'verified'],
        ['lost', 'refused'],
        ['door', 'verified'],
        ['safe', 'refused'],
      ],
    );
    const door = await readback.admin('GET', '/devices/door');
    assert.deepEqual(JSON.parse(door.received.find(({ purpose }) => purpose === 'send')?.body ?? ''), {
      lock: 'unlocked',
      code: SECRETS.PIN,
    });
    const [, , , , lost, , safe] = ended;
    assert.match(safe?.view.result?.detail ?? '', /bad code •••!/);
    assert.equal(lost?.view.sent.count, 0);
    assert.match(
      lost?.view.result?.detail ?? '',
      /connection "strange" is signed out: .* \(invalid_client\); mend its clientId and clientSecret/,
    );
    const rehearsed = await readback.commands.dryRun({
      device: 'door',
      desired: { lock: 'locked' },
      caller: LOCAL,
    });
    assert.match(JSON.stringify(rehearsed), /"code":"•••"/);
    const states = await Promise.all(
      Object.keys(DEVICES).map((device) => readback.commands.readState(device)),
    );

    const { client } = readback.temporal;
    const told = [
      JSON.stringify([ended, rehearsed, states]),
      ...ended.map((snapshot) => commandMessage(snapshot, Date.now())),
      logged,
    ];
    for await (const { workflowId, runId, memo } of client.workflow.list()) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      told.push(JSON.stringify(memo), textIn(history.events));
    }
    assert.ok(told.length > 15);
    const all = told.join('\n');
    // What is looked through is what is there.
    assert.match(all, /idempotencyKey/);
    for (const [name, secret] of Object.entries(SECRETS)) {
      const alone = new RegExp(`(?<![\\p{L}\\p{N}.])${secret}(?![\\p{L}\\p{N}])`, 'u');
      const [found] = alone.exec(all) ?? [];
      assert.equal(
        found,
        undefined,
        `${name} is told: …${all.slice(Math.max(0, all.search(alone) - 200), all.search(alone) + 40)}…`,
      );
    }
    assert.doesNotMatch(all, /\b(token|refresh)-[0-9a-f]{8}-/);
  });
});
