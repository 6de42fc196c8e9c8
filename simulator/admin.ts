/** `/admin`: look at the devices and what reached them, and change how they behave while they run. */
import { Hono } from 'hono';
import { z } from 'zod';
import type { Account } from './account.ts';
import { script } from './behaviour.ts';
import { behave, schedule, setByHand } from './device.ts';
import { checkScript } from './devices-file.ts';
import { catchUp } from './due.ts';
import { duration } from './duration.ts';
import { type House, type Resident, resetHouse } from './house.ts';
import { check, DevicesFileError } from './mistakes.ts';
import { reading } from './reading.ts';

const CALLS = [
  'GET /admin/devices',
  'GET /admin/devices/{id}',
  'PATCH /admin/devices/{id}/state',
  'PATCH /admin/devices/{id}/behaviour',
  'POST /admin/devices/{id}/script',
  'GET /admin/accounts/{id}',
  'POST /admin/accounts/{id}/sign-out',
  'POST /admin/advance',
  'POST /admin/reset',
];

const values = z.record(z.string(), z.json());
const advance = z.strictObject({ by: duration });
const signOut = z.strictObject({ all: z.boolean().default(false) });

export function createAdmin(house: House): Hono {
  const admin = new Hono().basePath('/admin');
  const now = () => house.clock.now();
  /** The device of the path, with all done that is due. Throws Unknown. */
  const resident = (id: string): Resident => {
    const found = house.residents.get(id);
    if (!found)
      throw new UnknownDevice(`no device "${id}"; there are ${[...house.residents.keys()].join(', ')}`);
    catchUp(found.device, now());
    return found;
  };

  admin.onError((error, c) => {
    if (error instanceof UnknownDevice) return c.json({ error: error.message }, 404);
    if (error instanceof DevicesFileError || error instanceof SyntaxError)
      return c.json({ error: error.message }, 400);
    return c.json({ error: `the simulator broke: ${error.message}` }, 500);
  });
  admin.notFound((c) => c.json({ error: 'no such admin call', calls: CALLS }, 404));
  // A page from the web, open in the same browser, must not play with the devices; nor after its name was pointed at this host.
  admin.use(async (c, next) => {
    const origin = c.req.header('origin');
    const here = new URL(c.req.url);
    const bare = /^(localhost|[\d.]+|\[.*\])$/.test(here.hostname);
    if (origin !== undefined && (origin !== here.origin || !bare))
      return c.json({ error: 'not from another web page' }, 403);
    return next();
  });

  admin.get('/', (c) => c.json({ calls: CALLS }));
  admin.get('/devices', (c) => c.json([...house.residents.keys()].map((id) => summary(resident(id), now()))));
  admin.get('/devices/:id', (c) => c.json(detail(resident(c.req.param('id')), now())));
  admin.patch('/devices/:id/state', async (c) => {
    const found = resident(c.req.param('id'));
    const { device } = found;
    const set = check(values, await c.req.json(), 'body');
    checkScript(device.id, device.written, [{ after: 0, from: 'start', set }]);
    setByHand(device, set, now());
    return c.json(detail(found, now()));
  });
  admin.patch('/devices/:id/behaviour', async (c) => {
    const found = resident(c.req.param('id'));
    const change = check(values, await c.req.json(), 'body');
    if ('state' in change) throw new DevicesFileError(`body.state: change it with ${CALLS[2]}`);
    behave(found.device, change);
    return c.json(detail(found, now()));
  });
  admin.post('/devices/:id/script', async (c) => {
    const found = resident(c.req.param('id'));
    const events = check(script, await c.req.json(), 'body');
    checkScript(found.device.id, found.device.written, events);
    schedule(found.device, events, now());
    return c.json(detail(found, now()));
  });
  admin.get('/accounts/:id', (c) => c.json(accountOf(house, c.req.param('id')).counters));
  admin.post('/accounts/:id/sign-out', async (c) => {
    const account = accountOf(house, c.req.param('id'));
    account.signOut(check(signOut, await c.req.json(), 'body').all);
    return c.json(account.counters);
  });
  admin.post('/advance', async (c) => {
    house.clock.advance(check(advance, await c.req.json(), 'body').by);
    return c.json({ now: new Date(now()).toISOString() });
  });
  admin.post('/reset', (c) => {
    resetHouse(house);
    return c.json({ ok: true });
  });
  return admin;
}

function accountOf({ accounts }: House, id: string): Account {
  const account = accounts.get(id);
  if (account === undefined)
    throw new UnknownDevice(`no account "${id}"; there are ${[...accounts.keys()].join(', ') || 'none'}`);
  return account;
}

class UnknownDevice extends Error {
  override readonly name = 'UnknownDevice';
}

function summary({ device, ledger }: Resident, now: number) {
  const { about = null } = device.definition;
  return { id: device.id, about, reading: reading(device, now), counters: ledger.counters };
}

function detail(found: Resident, now: number) {
  return { ...summary(found, now), behaviour: found.device.written, received: found.ledger.received };
}
