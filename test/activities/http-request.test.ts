import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type HttpRequest, requestOnce, type TlsTrust } from '../../activities/http-request.ts';
import { closedPort, serveHttp, serveTcp } from './loopback-server.ts';

const TIMEOUT_MS = 400;
/** Far more than a busy machine adds to it, and far less than Node's own time-outs. */
const CUT_OFF_BY_MS = 10_000;
const put: HttpRequest = { method: 'PUT', path: '/heater', headers: {}, body: '{"power":"on"}' };
const usual: TlsTrust = { ca: undefined, insecure: false };
const endpoint = (origin: string, timeoutMs = TIMEOUT_MS) => ({ origin, tls: usual, timeoutMs });
const on = (port: number) => endpoint(`http://127.0.0.1:${port}`);

test('a refused connection is unreached: nothing can have arrived', async () => {
  const port = await closedPort();
  assert.deepEqual(await requestOnce(on(port), put), {
    kind: 'unreached',
    why: `connection refused by 127.0.0.1:${port}`,
  });
});

test('a refused connection is unreached on every address of a host with several', async () => {
  const answer = await requestOnce(endpoint(`http://localhost:${await closedPort()}`), put);
  assert.equal(answer.kind, 'unreached');
  assert.match(answer.why, /^connection refused by localhost/);
});

test('a host without an address is unreached', async () => {
  const answer = await requestOnce(endpoint('http://no-such-device.invalid', 5_000), put);
  assert.equal(answer.kind, 'unreached');
  assert.match(answer.why, /no address is known for no-such-device\.invalid/);
});

test('a TLS handshake with something that speaks no TLS is unreached', async (t) => {
  const port = await serveTcp(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const answer = await requestOnce(endpoint(`https://127.0.0.1:${port}`), put);
  assert.equal(answer.kind, 'unreached');
  assert.match(answer.why, /no TLS connection to 127\.0\.0\.1/);
});

test('a TLS handshake that never ends is unreached, within the time-out', async (t) => {
  const port = await serveTcp(t, () => undefined);
  const began = Date.now();
  const answer = await requestOnce(endpoint(`https://127.0.0.1:${port}`), put);
  assert.deepEqual(answer, { kind: 'unreached', why: `no connection to 127.0.0.1:${port} within 0.4 s` });
  assert.ok(Date.now() - began < CUT_OFF_BY_MS);
});

test('a certificate that nobody vouches for is unreached; with its authority, or insecure, it is reached', async (t) => {
  const { cert, key } = selfSignedCertificate(t);
  const server = createTlsServer({ cert, key }, (_request, response) => response.end('{}'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answerWith = (ca: string | undefined, insecure: boolean) =>
    requestOnce({ origin, tls: { ca, insecure }, timeoutMs: 5_000 }, put);

  const untrusted = await answerWith(undefined, false);
  assert.equal(untrusted.kind, 'unreached');
  assert.match(untrusted.why, /no TLS connection to .*SELF_SIGNED/);
  assert.equal((await answerWith(cert, false)).kind, 'reply');
  assert.equal((await answerWith(undefined, true)).kind, 'reply');
});

test('a server that wants to see our certificate sees the one of the connection, and nobody else gets in', async (t) => {
  const { cert, key } = selfSignedCertificate(t);
  const server = createTlsServer(
    { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true },
    (_request, response) => response.end('{}'),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answerWith = (shown: { cert?: string; key?: string }) =>
    requestOnce({ origin, tls: { ca: cert, ...shown, insecure: false }, timeoutMs: 5_000 }, put);
  assert.equal((await answerWith({ cert, key })).kind, 'reply');
  // With TLS 1.3 it learns of that only when it has written its request.
  assert.notEqual((await answerWith({})).kind, 'reply');
});

test('a request that was taken and never answered is lost, within the time-out', async (t) => {
  const { received, port } = await serveHttp(t, () => undefined);
  const began = Date.now();
  const answer = await requestOnce(on(port), put);
  assert.deepEqual(answer, { kind: 'lost', why: `no reply from 127.0.0.1:${port} within 0.4 s` });
  assert.ok(Date.now() - began < CUT_OFF_BY_MS);
  assert.equal(received.length, 1);
});

test('a connection reset after the request is lost, and the request is not made again', async (t) => {
  const { received, port } = await serveHttp(t, (_request, response) => response.socket?.resetAndDestroy());
  const answer = await requestOnce(on(port), put);
  assert.deepEqual(answer, {
    kind: 'lost',
    why: `127.0.0.1:${port} closed the connection without a full reply`,
  });
  assert.equal(received.length, 1);
});

test('a server that closes every connection at once is dialled once', async (t) => {
  let dialled = 0;
  const port = await serveTcp(t, (socket) => {
    dialled++;
    socket.destroy();
  });
  const answer = await requestOnce(on(port), put);
  assert.equal(answer.kind, 'lost', 'the connection was up, so the request may have left');
  assert.equal(dialled, 1);
});

test('an answer that is not HTTP is lost', async (t) => {
  const port = await serveTcp(t, (socket) => {
    socket.once('data', () => socket.end('220 mail.example ESMTP\r\n'));
  });
  const answer = await requestOnce(on(port), put);
  assert.equal(answer.kind, 'lost');
  assert.match(answer.why, /isn't HTTP/);
});

test('every request has a connection of its own, so that a reset can never be blamed on an old one', async (t) => {
  const sockets = new Set<unknown>();
  const { port } = await serveHttp(t, (_request, response) => {
    sockets.add(response.socket?.remotePort);
    response.end('{}');
  });
  for (let n = 0; n < 3; n++) await requestOnce(on(port), put);
  assert.equal(sockets.size, 3);
});

test('a body that breaks off leaves the status and says so', async (t) => {
  const { port } = await serveHttp(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"power":');
    setTimeout(() => response.socket?.destroy(), 20);
  });
  const answer = await requestOnce(on(port), put);
  assert.ok(answer.kind === 'reply');
  assert.equal(answer.status, 200);
  assert.match(answer.cut ?? '', /broke off after 9 bytes/);
});

test('a body that drips is cut at the time-out, however lively it looks', async (t) => {
  const { port } = await serveHttp(t, (_request, response) => {
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  });
  const began = Date.now();
  const answer = await requestOnce(on(port), put);
  assert.ok(answer.kind === 'reply');
  assert.match(answer.cut ?? '', /broke off after \d+ bytes: no reply from 127\.0\.0\.1:\d+ within 0\.4 s/);
  assert.ok(Date.now() - began < CUT_OFF_BY_MS);
});

test('a body of 5 MB is cut after 1 MB', async (t) => {
  const { port } = await serveHttp(t, (_request, response) => response.end('x'.repeat(5_000_000)));
  const answer = await requestOnce(endpoint(`http://127.0.0.1:${port}`, 5_000), put);
  assert.ok(answer.kind === 'reply');
  assert.equal(answer.body.byteLength, 1_000_000);
  assert.equal(answer.cut, 'its body is longer than 1 MB');
});

test('headers longer than HTTP clients take are lost', async (t) => {
  const { port } = await serveHttp(t, (_request, response) => {
    response.setHeader('x-long', 'x'.repeat(200_000));
    response.end();
  });
  assert.equal((await requestOnce(on(port), put)).kind, 'lost');
});

test('a header value that would start a new line is not sent at all', async (t) => {
  const { received, port } = await serveHttp(t, (_request, response) => response.end());
  const answer = await requestOnce(on(port), { ...put, headers: { 'x-a': 'b\r\nx-c: d' } });
  assert.equal(answer.kind, 'unreached');
  assert.match(answer.why, /a path or header that HTTP does not allow/);
  assert.equal(received.length, 0);
});

test('a signal breaks the exchange off', async (t) => {
  const { port } = await serveHttp(t, () => undefined);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const answer = await requestOnce(endpoint(`http://127.0.0.1:${port}`, 60_000), put, stop.signal);
  assert.deepEqual(answer, { kind: 'lost', why: 'given up by Readback while it was waiting' });
});

function selfSignedCertificate(t: TestContext): { cert: string; key: string } {
  const dir = mkdtempSync(join(tmpdir(), 'readback-tls-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const subject = ['-subj', '/CN=device', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, '-keyout', key, '-out', cert],
    { stdio: 'ignore' },
  );
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
