/** From a request to what the device does and what the client gets, in the order in which real APIs go about it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Conduct, Json } from './behaviour.ts';
import type { Device, Taken, Values } from './device.ts';
import type { House, Kept } from './house.ts';
import type { Ledger, ReceivedRequest } from './ledger.ts';
import { fill, type Reply, writeReply } from './reply.ts';
import { type Matched, match, PLAIN_ROUTES } from './routes.ts';
import { notSignedIn, type Refused, stillAsleep } from './turning-away.ts';

const MAX_BODY_BYTES = 1_000_000;

/** Answers one request to a device. `only`: the one device behind a port of its own. */
export async function answer(
  house: House,
  request: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
  only?: string,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const devices = [...house.devices.values()].filter(
    ({ device }) => only === undefined || device.id === only,
  );
  for (const { device } of devices) device.catchUp(house.clock.now());
  const method = request.method ?? 'GET';
  const matched = match(
    { method, path: url.pathname, query: url.searchParams },
    devices.map(({ device }) => device),
  );
  const kept = matched && house.devices.get(matched.devices[0]?.id ?? '');
  if (!matched || !kept) {
    const ids = devices.map(({ device }) => device.id).join(', ');
    const body = {
      error: `nothing answers ${method} ${url.pathname}`,
      devices: ids,
      routes: [...PLAIN_ROUTES],
    };
    return writeReply(response, { status: 404, headers: {}, body }, undefined);
  }
  if (kept.device.definition.down) {
    kept.ledger.drop();
    return void request.socket.destroy();
  }
  const text = await readBody(request);
  if (text === undefined)
    return writeReply(response, { status: 413, headers: {}, body: { error: 'body too large' } }, undefined);

  const { refused, headers } = turnAway(house, kept.device, matched, request, url.searchParams);
  const noteIn = (ledger: Ledger) =>
    ledger.note({
      at: new Date(house.clock.now()).toISOString(),
      purpose: matched.purpose,
      method,
      path: url.pathname + url.search,
      headers: withoutSecrets(request.headers),
      body: text,
      turnedAway: refused !== undefined,
    });
  const entries = matched.devices
    .flatMap((device) => house.devices.get(device.id) ?? [])
    .map(({ ledger }) => noteIn(ledger));
  if (refused) {
    for (const entry of entries) entry.answer = refused.status;
    return writeReply(response, { ...refused, headers: { ...headers, ...refused.headers } }, undefined);
  }
  await conductRequest({ house, closing, kept, matched, request, response, text, headers, entries });
}

interface Going {
  readonly house: House;
  readonly closing: AbortSignal;
  readonly kept: Kept;
  readonly matched: Matched;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly entries: readonly ReceivedRequest[];
}

async function conductRequest(going: Going): Promise<void> {
  const { matched, request, response, entries } = going;
  const conduct = nextConduct(going.kept, matched);
  const tear = () => {
    for (const entry of entries) entry.answer = 'torn';
    request.socket.destroy();
  };
  if (conduct.drops) return tear();
  const acts = conduct.acts ?? ((conduct.status ?? 200) < 400 ? 'at-once' : 'never');
  // Real time: the client's own time-outs run on it. Rejects when the simulator closes.
  const hang = () => pause(conduct.hangs ?? 0, undefined, { signal: going.closing });
  if (acts === 'late') await hang();
  const reply = act(going, conduct, acts !== 'never');
  if (acts !== 'late' && conduct.hangs !== undefined) await hang();
  if (conduct.losesReply) return tear();
  for (const entry of entries) entry.answer = reply.status;
  writeReply(response, { ...reply, headers: { ...going.headers, ...reply.headers } }, conduct.oddity);
}

/** Does what is asked, and says what an ordinary API would answer, as far as the conduct has nothing else to say. */
function act(going: Going, conduct: Conduct, acts: boolean): Reply {
  const { house, kept, matched } = going;
  const now = house.clock.now();
  const own = ownReply(going, acts, now);
  const values = kept.device.reading(now);
  return {
    status: conduct.status ?? own.status,
    headers: conduct.headers ?? {},
    body:
      conduct.body !== undefined
        ? fill(conduct.body, values)
        : (conduct.status ?? 200) >= 400
          ? { error: `HTTP ${conduct.status}` }
          : own.body(),
  };

  function ownReply(at: Going, doIt: boolean, when: number): { status: number; body: () => Json } {
    const { device } = at.kept;
    switch (matched.purpose) {
      case 'send': {
        const answered = doIt ? takeSend(at, matched, when) : { status: 200, body: { ok: true } };
        return { status: answered.status, body: () => answered.body };
      }
      case 'read':
        return { status: 200, body: () => readingOf(matched, when) };
      case 'refresh':
        if (doIt) device.refresh(when);
        return { status: 200, body: () => ({ ok: true }) };
      case 'wake':
        if (doIt) device.wake(when);
        return { status: 200, body: () => fill(matched.shape, device.reading(when)) };
    }
  }
}

function takeSend(
  going: Going,
  matched: Extract<Matched, { purpose: 'send' }>,
  now: number,
): { status: number; body: Json } {
  const { kept, request, text, entries } = going;
  const { device } = kept;
  device.catchUp(now);
  const { honoursKey } = device.definition;
  const key = honoursKey && request.headers[honoursKey.toLowerCase()];
  if (typeof key === 'string') {
    if (kept.keys.has(key)) return { status: 200, body: { ok: true, repeated: true } };
    kept.keys.add(key);
  }
  const body = parseBody(text, request.headers['content-type'] ?? '');
  const values: Values | string = matched.action
    ? (device.valuesOfAction(matched.action, now) ?? {})
    : matched.fieldsIn(body);
  if (typeof values === 'string') return { status: 400, body: { error: values } };
  const taken: Taken = device.take(values, now);
  if (taken.kind === 'refused')
    return {
      status: taken.refusal.status,
      body: taken.refusal.body ?? { error: `${taken.field} is refused` },
    };
  if (taken.kind === 'acted') for (const entry of entries) kept.ledger.acted(entry);
  return { status: 200, body: { ok: true } };
}

function readingOf(matched: Extract<Matched, { purpose: 'read' }>, now: number): Json {
  const shaped = matched.devices
    .filter((device) => !matched.list || !device.definition.unlisted)
    .map((device) => fill(matched.list ? device.definition.shape : matched.shape, device.reading(now)));
  return matched.list ? shaped : (shaped[0] ?? null);
}

function nextConduct(kept: Kept, matched: Matched): Conduct {
  const { onSend, onRead, onRefresh, onWake } = kept.device.definition;
  const ordinary = { send: onSend, read: onRead, refresh: onRefresh, wake: onWake }[matched.purpose];
  const name = matched.answer ? matched.name : matched.purpose;
  const list = matched.answer ?? ordinary ?? [];
  const used = kept.used.get(name) ?? 0;
  kept.used.set(name, used + 1);
  let upTo = 0;
  for (const conduct of list) {
    upTo += conduct.times ?? Number.POSITIVE_INFINITY;
    if (used < upTo) return conduct;
  }
  return {};
}

function turnAway(
  house: House,
  device: Device,
  matched: Matched,
  request: IncomingMessage,
  query: URLSearchParams,
): { refused: Refused | undefined; headers: Readonly<Record<string, string>> } {
  const now = house.clock.now();
  const { auth, limit } = device.definition;
  const unsigned = notSignedIn(auth, request.headers, query);
  if (unsigned) return { refused: unsigned, headers: {} };
  const rule = typeof limit === 'string' ? house.limits[limit] : limit;
  const counted = rule
    ? house.limitCounter.count(typeof limit === 'string' ? limit : `device ${device.id}`, rule, now)
    : undefined;
  const asleep =
    matched.purpose === 'send' || matched.purpose === 'read'
      ? stillAsleep(device, matched.purpose, now)
      : undefined;
  return { refused: counted?.refused ?? asleep, headers: counted?.headers ?? {} };
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

function withoutSecrets(headers: IncomingMessage['headers']): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'cookie');
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
