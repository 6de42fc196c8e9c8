/** A running simulator, and the few calls that tests make to it. */
import type { TestContext } from 'node:test';
import type { Counters, ReceivedRequest } from '../../simulator/ledger.ts';
import { startSimulator } from '../../simulator/simulator.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of any shape; undefined: no JSON. */
  readonly body: any;
}

export interface DeviceDetail {
  readonly reading: Record<string, unknown>;
  readonly counters: Counters;
  readonly received: readonly ReceivedRequest[];
  readonly behaviour: Record<string, unknown>;
}

/** Its time stands still but for `advance`, and it is closed when the test ends. `devices`: a file's path, or devices by id. */
export async function simulate(t: TestContext, devices: string | Record<string, object>, more: object = {}) {
  const source = typeof devices === 'string' ? devices : { devices, ...more };
  const simulator = await startSimulator({ devices: source, clock: 'by-hand' });
  t.after(() => simulator.close());

  async function request(
    method: string,
    path: string,
    body?: unknown,
    init: RequestInit = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(simulator.url + path, { method, redirect: 'manual', ...json, ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }
  async function admin(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await request(method, `/admin${path}`, body);
    if (answer.status !== 200) throw new Error(`admin ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
  return {
    url: simulator.url,
    deviceUrls: simulator.deviceUrls,
    close: () => simulator.close(),
    request,
    admin,
    send: (id: string, fields: object) => request('PUT', `/devices/${id}`, fields),
    press: (id: string, action: string) => request('POST', `/devices/${id}/${action}`),
    /** The reading of a 200 reply. */
    read: async (id: string) => (await request('GET', `/devices/${id}`)).body,
    advance: (by: string) => admin('POST', '/advance', { by }),
    device: async (id: string): Promise<DeviceDetail> => (await admin('GET', `/devices/${id}`)).body,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
