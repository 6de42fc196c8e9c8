/** The simplest device, on a connection with whatever a test adds. */
import type { ServerResponse } from 'node:http';
import { type Opened, openAll } from './opened.ts';

export const SECRET = 'token-3f9a-very-secret';

export async function heater(baseUrl: string, connection = ''): Promise<Opened> {
  const yaml = `
version: 1
connections: { vendor: { kind: http, baseUrl: "${baseUrl}", timeout: 500ms, auth: { bearer: "\${TOKEN}" } ${connection} } }
devices:
  heater:
    connection: vendor
    send: { request: PUT /heater, idempotencyHeader: Idempotency-Key }
    read: GET /heater
    fields: { power: onoff, temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
`;
  return (await openAll(yaml, { TOKEN: SECRET }))('heater');
}

/** What a hotel's network answers to everything. */
export function loginPage(response: ServerResponse, status = 200): void {
  response.writeHead(status, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>Hotel Wi-Fi</title>');
}
