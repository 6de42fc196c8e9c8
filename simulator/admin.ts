/** `/admin`: look at the devices and what reached them, and change how they behave while they run. */
import { Hono } from 'hono';
import { z } from 'zod';
import { duration, script } from './behaviour.ts';
import { check, DevicesFileError } from './devices-file.ts';
import { type House, type Kept, resetHouse } from './house.ts';

const values = z.record(z.string(), z.json());
const advance = z.strictObject({ by: duration });

export function createAdmin(house: House): Hono {
  const admin = new Hono().basePath('/admin');
  const now = () => house.clock.now();

  admin.onError((error, c) => {
    if (error instanceof DevicesFileError || error instanceof SyntaxError)
      return c.json({ error: error.message }, 400);
    return c.json({ error: `the simulator broke: ${error.message}` }, 500);
  });
  admin.notFound((c) => c.json({ error: `no such admin call; there are ${CALLS.join(' · ')}` }, 404));
  // A web page open in the same browser must not play with the devices.
  admin.use(async (c, next) => {
    const origin = c.req.header('origin');
    if (origin && origin !== new URL(c.req.url).origin)
      return c.json({ error: 'not from another web page' }, 403);
    return next();
  });
  admin.use('/devices/:id/*', async (c, next) => {
    if (house.devices.has(c.req.param('id'))) return next();
    return c.json(
      { error: `no device "${c.req.param('id')}"; there are ${[...house.devices.keys()].join(', ')}` },
      404,
    );
  });
  const named = (id: string) => house.devices.get(id) as Kept;

  admin.get('/', (c) => c.json({ calls: CALLS }));
  admin.get('/devices', (c) => c.json([...house.devices.values()].map((kept) => summary(kept, now()))));
  admin.get('/devices/:id', (c) => c.json(detail(named(c.req.param('id')), now())));
  admin.patch('/devices/:id/state', async (c) => {
    const kept = named(c.req.param('id'));
    const given = check(values, await c.req.json(), 'body');
    const unknown = Object.keys(given).filter((field) => !(field in kept.device.definition.state));
    if (unknown.length > 0) throw new DevicesFileError(`body: no such field: ${unknown.join(', ')}`);
    kept.device.catchUp(now());
    kept.device.set(given, now());
    return c.json(detail(kept, now()));
  });
  admin.patch('/devices/:id/behaviour', async (c) => {
    const kept = named(c.req.param('id'));
    kept.device.catchUp(now());
    kept.device.behave(check(values, await c.req.json(), 'body'));
    kept.used.clear();
    return c.json(detail(kept, now()));
  });
  admin.post('/devices/:id/script', async (c) => {
    const kept = named(c.req.param('id'));
    kept.device.plan(check(script, await c.req.json(), 'body'), now());
    return c.json(detail(kept, now()));
  });
  admin.post('/advance', async (c) => {
    house.clock.advance(check(advance, await c.req.json(), 'body').by);
    for (const { device } of house.devices.values()) device.catchUp(now());
    return c.json({ now: new Date(now()).toISOString() });
  });
  admin.post('/reset', (c) => {
    resetHouse(house);
    return c.json({ ok: true });
  });
  return admin;
}

const CALLS = [
  'GET /admin/devices',
  'GET /admin/devices/{id}',
  'PATCH /admin/devices/{id}/state',
  'PATCH /admin/devices/{id}/behaviour',
  'POST /admin/devices/{id}/script',
  'POST /admin/advance',
  'POST /admin/reset',
];

function summary({ device, ledger }: Kept, now: number) {
  device.catchUp(now);
  return {
    id: device.id,
    about: device.definition.about ?? null,
    reading: device.reading(now),
    counters: ledger.counters,
  };
}

function detail(kept: Kept, now: number) {
  return { ...summary(kept, now), behaviour: kept.device.written, received: kept.ledger.received };
}
