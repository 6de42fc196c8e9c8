/** From a request to what the device does and what the client gets, in the order in which real APIs go about it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { SignInRequest } from './account.ts';
import type { Conduct, Json } from './behaviour.ts';
import { type Device, nextConduct, refresh, take, valuesOfAction, wake } from './device.ts';
import { catchUp } from './due.ts';
import type { House, Resident } from './house.ts';
import type { ReceivedRequest } from './ledger.ts';
import { reading } from './reading.ts';
import { fill, type Reply, writeReply } from './reply.ts';
import { type Matched, match, PLAIN_ROUTES } from './routes.ts';
import { notSignedIn, type Refused, stillAsleep, withoutSecrets } from './turning-away.ts';

/** One request on its way through the simulator. */
export interface Exchange {
  readonly house: House;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the simulator closes. */
  readonly closing: AbortSignal;
  /** The one device behind a port of its own; null: all of them. */
  readonly only: string | null;
}

const MAX_BODY_BYTES = 1_000_000;

/** Rejects when the client goes away in the middle of its request, or when the simulator closes. */
export async function answer(exchange: Exchange): Promise<void> {
  const { house, request, response, only } = exchange;
  const url = new URL(request.url ?? '/', 'http://simulator');
  const devices = [...house.residents.values()]
    .map(({ device }) => device)
    .filter(({ id }) => only === null || id === only);
  for (const device of devices) catchUp(device, house.clock.now());
  const signIn = request.method === 'POST' ? /^\/sign-in\/([^/]+)$/.exec(url.pathname)?.[1] : undefined;
  const account = house.accounts.get(signIn ?? '');
  if (account) {
    const signedIn = account.signIn(await received(request), house.clock.now());
    if (signedIn) return writeReply(response, signedIn);
  }
  const matched = match(
    { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams },
    devices,
  );
  const resident = matched && house.residents.get(matched.devices[0]?.id ?? '');
  if (!matched || !resident) {
    const guide = { devices: devices.map(({ id }) => id), routes: [...PLAIN_ROUTES], admin: '/admin' };
    if (url.pathname === '/') return writeReply(response, plain(200, guide));
    const error = `nothing answers ${request.method} ${url.pathname}`;
    return writeReply(response, plain(404, { error, ...guide }));
  }
  if (resident.device.definition.down) {
    resident.ledger.drop();
    request.socket.destroy();
    return;
  }
  const text = await readBody(request);
  if (text === undefined) return writeReply(response, plain(413, { error: 'body too large' }));
  const { refused, headers } = turnAway(exchange, resident, matched, text);
  const concerned = matched.devices.flatMap(({ id }) => house.residents.get(id) ?? []);
  const entries = concerned.map((one) => note(exchange, one, matched, text, refused !== undefined));
  if (refused) {
    for (const entry of entries) entry.answer = refused.status;
    return writeReply(response, { ...refused, headers: { ...headers, ...refused.headers } });
  }
  await serve({ ...exchange, resident, matched, text, headers, entries });
}

interface Served extends Exchange {
  readonly resident: Resident;
  readonly matched: Matched;
  readonly text: string;
  /** Those that tell the budget. */
  readonly headers: Readonly<Record<string, string>>;
  readonly entries: readonly ReceivedRequest[];
}

async function serve(served: Served): Promise<void> {
  const { resident, matched, request, response, entries } = served;
  const { onSend, onRead, onRefresh, onWake } = resident.device.definition;
  const list =
    matched.answer ?? { send: onSend, read: onRead, refresh: onRefresh, wake: onWake }[matched.purpose];
  const conduct = nextConduct(resident.device, matched.answer ? matched.name : matched.purpose, list ?? []);
  const tear = () => {
    for (const entry of entries) entry.answer = 'torn';
    request.socket.destroy();
  };
  if (conduct.drops) return tear();
  const acts = conduct.acts ?? ((conduct.status ?? 200) < 400 ? 'at-once' : 'never');
  // Real time, as the client's own time-outs are.
  const hang = () => pause(conduct.hangs ?? 0, undefined, { signal: served.closing });
  if (acts === 'late') await hang();
  const reply = worded(served, conduct, act(served, acts !== 'never'));
  if (acts !== 'late' && conduct.hangs !== undefined) await hang();
  if (conduct.losesReply) return tear();
  for (const entry of entries) entry.answer = reply.status;
  writeReply(response, { ...reply, headers: { ...served.headers, ...reply.headers } }, conduct.oddity);
}

/** Does what is asked, unless it may not, and says what an ordinary API would answer. */
function act(served: Served, acts: boolean): Reply {
  const { house, resident, matched } = served;
  const { device } = resident;
  const now = house.clock.now();
  catchUp(device, now);
  switch (matched.purpose) {
    case 'send':
      return acts ? takeSend(served, matched, now) : plain(200, { ok: true });
    case 'read':
      return plain(200, readingOf(matched, now));
    case 'refresh':
      if (acts) refresh(device, now);
      return plain(200, { ok: true });
    case 'wake':
      if (acts) wake(device, now);
      return plain(200, fill(matched.shape, reading(device, now)));
  }
}

/** The reply in the words of the conduct, where it has any. */
function worded({ house, resident }: Served, conduct: Conduct, ordinary: Reply): Reply {
  const status = conduct.status ?? ordinary.status;
  let body = ordinary.body;
  if (conduct.body !== undefined) body = fill(conduct.body, reading(resident.device, house.clock.now()));
  else if (conduct.status !== undefined && conduct.status >= 400) body = { error: `HTTP ${conduct.status}` };
  return { status, headers: conduct.headers ?? {}, body };
}

function takeSend(served: Served, matched: Extract<Matched, { purpose: 'send' }>, now: number): Reply {
  const { resident, request, text, entries } = served;
  const { device, keys, ledger } = resident;
  const { honoursKey } = device.definition;
  const key = honoursKey === undefined ? undefined : request.headers[honoursKey.toLowerCase()];
  if (typeof key === 'string' && keys.has(key)) return plain(200, { ok: true, repeated: true });
  const body = parseBody(text, request.headers['content-type'] ?? '');
  const values = matched.action
    ? (valuesOfAction(device, matched.action, now) ?? {})
    : matched.fieldsIn(body);
  if (typeof values === 'string') return plain(400, { error: values });
  const taken = take(device, values, now);
  if (taken.kind === 'refused')
    return plain(taken.refusal.status, taken.refusal.body ?? { error: `${taken.field} is refused` });
  if (typeof key === 'string') keys.add(key);
  if (taken.kind === 'acted') for (const entry of entries) ledger.acted(entry);
  return plain(200, { ok: true });
}

function readingOf({ devices, list, shape }: Extract<Matched, { purpose: 'read' }>, now: number): Json {
  if (!list) return fill(shape, devices[0] ? reading(devices[0], now) : {});
  return devices
    .filter((device) => !device.definition.unlisted)
    .map((device) => fill(shape ?? device.definition.shape, reading(device, now)));
}

function turnAway(
  { house, request }: Exchange,
  { device }: Resident,
  { purpose }: Matched,
  body: string,
): { refused: Refused | undefined; headers: Readonly<Record<string, string>> } {
  const now = house.clock.now();
  const { limit } = device.definition;
  const account = accountOf(device);
  const { method = 'GET', url = '/', headers: sent } = request;
  const unsigned = notSignedIn(
    house.auths.get(account),
    house.accounts.get(account),
    { method, url, headers: sent, body },
    now,
  );
  if (unsigned) return { refused: unsigned, headers: {} };
  const asleep = purpose === 'send' || purpose === 'read' ? stillAsleep(device, purpose, now) : undefined;
  const rule = typeof limit === 'string' ? house.limits[limit] : limit;
  if (!rule) return { refused: asleep, headers: {} };
  const budget = typeof limit === 'string' ? `limits.${limit}` : `devices.${device.id}`;
  const counted = house.limitCounter.count(budget, rule, now);
  return { refused: counted.refused ?? asleep, headers: counted.headers };
}

function note(
  { house, request }: Exchange,
  { device, ledger }: Resident,
  matched: Matched,
  body: string,
  turnedAway: boolean,
) {
  return ledger.note({
    at: new Date(house.clock.now()).toISOString(),
    purpose: matched.purpose,
    method: request.method ?? 'GET',
    ...withoutSecrets(request, house.auths.get(accountOf(device))),
    body,
    turnedAway,
  });
}

/** Its own, unless it names one that it shares. */
const accountOf = ({ id, definition: { auth } }: Device): string => (typeof auth === 'string' ? auth : id);

async function received(request: IncomingMessage): Promise<SignInRequest> {
  const { method = 'GET', url = '/', headers } = request;
  return { method, url, headers, body: (await readBody(request)) ?? '' };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(text: string, type: string): Json {
  if (type.includes('x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function plain(status: number, body: Json): Reply {
  return { status, headers: {}, body };
}
