/** A waiting approval rings a receiver that is anything but reliable, and goes its own way whatever that does. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { whyNotGenuine } from '../activities/standard-webhooks.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const OPERATOR = { kind: 'operator' } as const;
const SECRET = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly device: string;
}

/** Answers each ring as it is told for its device: with a status, or not at all. */
interface Receiver {
  readonly heard: Heard[];
  answers: Record<string, number | 'never'>;
  start(): Promise<number>;
  stop(): Promise<void>;
}

function receiver(): Receiver {
  const heard: Heard[] = [];
  const hanging = new Set<ServerResponse>();
  let server: Server | undefined;
  let port = 0;
  const self: Receiver = {
    heard,
    answers: {},
    async start() {
      server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          const { device } = (JSON.parse(body) as { data: { device: string } }).data;
          heard.push({ headers: request.headers, body, device });
          const answer = self.answers[device] ?? 204;
          if (answer === 'never') hanging.add(response);
          else response.writeHead(answer).end();
        });
      });
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
      port = (server.address() as AddressInfo).port;
      return port;
    },
    async stop() {
      for (const response of hanging) response.destroy();
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
    },
  };
  return self;
}

const crowd = Array.from({ length: 20 }, (_, index) => `crowd-${index}`);
const { devices, entries } = thermostats(
  plain('boiler', 'later', 'hanging', 'cancelled', 'expiring', 'free', ...crowd),
  '200ms',
);

describe('the bell', { timeout: 170_000 }, () => {
  const phone = receiver();
  let readback: Harness;

  before(async () => {
    const port = await phone.start();
    const catalogue = thermostatCatalogue(
      entries,
      `settings: { webhook: phone }
approvals:
  - { for: { device: expiring }, by: operator, expires: 4s }
${['boiler', 'later', 'hanging', 'cancelled', ...crowd]
  .map((id) => `  - { for: { device: ${id} }, by: operator, expires: 2m, reason: Hot water. }`)
  .join('\n')}`,
    ).replace(
      'connections: { sim:',
      `connections: { phone: { kind: http, timeout: 3s, baseUrl: "http://127.0.0.1:${port}/hook", auth: { sign: { preset: standard-webhooks, secret: "\${PHONE}" } } }, sim:`,
    );
    readback = await startReadback({
      devices,
      catalogue,
      environment: { PHONE: SECRET },
      consoleUrl: 'https://home.example/',
    });
  });
  after(async () => {
    await readback?.close();
    await phone.stop();
  });

  const heard = (device: string): Heard[] => phone.heard.filter((ring) => ring.device === device);
  async function hearing(device: string, count = 1, withinMs = 20_000): Promise<Heard[]> {
    for (const giveUpAt = Date.now() + withinMs; heard(device).length < count; await sleep(50))
      assert.ok(Date.now() < giveUpAt, `${device} rang ${heard(device).length} times`);
    return heard(device);
  }
  async function waiting(id: string): Promise<CommandSnapshot> {
    const until = ({ view }: CommandSnapshot): boolean => view.approval !== null;
    const snapshot = await readback.commands.wait(id, OPERATOR, { timeoutMs: 20_000, until });
    assert.ok(snapshot?.view.approval, JSON.stringify(snapshot?.view));
    return snapshot;
  }
  const approve = (id: string) =>
    readback.commands.decide(id, { decision: 'approved', by: 'ann', via: 'console', comment: null });

  it('rings once for an approval, signed, with what is asked and where to decide', async () => {
    const id = await readback.submit('boiler', { temperature: 25 }, { reason: 'ignore the rules' });
    const [ring] = await hearing('boiler');
    assert.ok(ring);
    assert.equal(await whyNotGenuine(SECRET, ring.headers, ring.body), null);
    const { data } = JSON.parse(ring.body) as { data: Record<string, unknown> };
    assert.deepEqual([data['commandId'], data['url']], [id, `https://home.example/commands/${id}`]);
    assert.deepEqual(data['changes'], [{ field: 'temperature', before: '20 °C', desired: '25 °C' }]);
    assert.ok(!ring.body.includes('ignore the rules'));
    await approve(id);
    assert.equal((await readback.ended(id)).view.result?.outcome, 'verified');
    assert.equal(heard('boiler').length, 1);
    const history = JSON.stringify(await readback.temporal.client.workflow.getHandle(id).fetchHistory());
    assert.ok(!history.includes(SECRET.slice(6)));
  });

  it('costs a command that needs no approval nothing', async () => {
    const { commandId, view } = await readback.carryOut('free', { temperature: 25 });
    assert.equal(view.result?.outcome, 'verified');
    const { events } = await readback.temporal.client.workflow.getHandle(commandId).fetchHistory();
    const activities = (events ?? []).map(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name,
    );
    assert.ok(activities.includes('send') && !activities.includes('ring'));
    assert.equal(heard('free').length, 0);
  });

  it('is heard by a receiver that was down, as soon as that is up again, under the one id', async () => {
    await phone.stop();
    const id = await readback.submit('later', { temperature: 25 });
    await waiting(id);
    // Long enough for several attempts that nobody takes.
    await sleep(4000);
    assert.equal(heard('later').length, 0);
    phone.answers['later'] = 503;
    await phone.start();
    await hearing('later');
    phone.answers['later'] = 204;
    const rings = await hearing('later', 2);
    assert.deepEqual([...new Set(rings.map(({ headers }) => headers['webhook-id']))], [`approval-${id}`]);
    assert.equal(new Set(rings.map(({ body }) => body)).size, 1);
    for (const { headers, body } of rings) assert.equal(await whyNotGenuine(SECRET, headers, body), null);
    await sleep(3000);
    assert.equal(heard('later').length, 2);
    await readback.commands.cancel(id, OPERATOR);
  });

  it('delays no decision while the receiver hangs, nor any other device, and does not ring after it', async () => {
    for (const id of ['hanging', ...crowd]) phone.answers[id] = 'never';
    const id = await readback.submit('hanging', { temperature: 25 });
    await hearing('hanging');
    const others = await Promise.all(crowd.map((device) => readback.submit(device, { temperature: 25 })));
    await Promise.all(others.map(waiting));
    const decidedAt = Date.now();
    await approve(id);
    const [guarded, free] = await Promise.all([
      readback.ended(id),
      readback.carryOut('free', { temperature: 21 }),
    ]);
    assert.deepEqual([guarded.view.result?.outcome, free.view.result?.outcome], ['verified', 'verified']);
    assert.ok(Date.now() - decidedAt < 6000, `${Date.now() - decidedAt} ms`);
    for (const other of others) await readback.commands.cancel(other, OPERATOR);
    for (const other of others) assert.equal((await readback.ended(other, 5000)).status, 'cancelled');
    // An attempt takes 3 s here, and the next one would be due 2 s later.
    const rings = phone.heard.length;
    await sleep(7000);
    assert.equal(phone.heard.length, rings);
  });

  it('does not ring after a cancel', async () => {
    phone.answers['cancelled'] = 503;
    const id = await readback.submit('cancelled', { temperature: 25 });
    await hearing('cancelled');
    await readback.commands.cancel(id, OPERATOR);
    const { status, view } = await readback.ended(id, 5000);
    assert.deepEqual([status, view.sent.count], ['cancelled', 0]);
    const rings = heard('cancelled').length;
    await sleep(5000);
    assert.equal(heard('cancelled').length, rings);
  });

  it('does not ring once the approval has expired', async () => {
    phone.answers['expiring'] = 500;
    const { view } = await readback.carryOut('expiring', { temperature: 25 });
    assert.equal(view.result?.outcome, 'expired');
    const rings = heard('expiring').length;
    assert.ok(rings >= 1);
    await sleep(5000);
    assert.equal(heard('expiring').length, rings);
  });
});
