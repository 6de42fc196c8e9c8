/** What docker-compose.yml must keep true; that it is a valid file only Compose itself can say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { STOP_WITHIN_MS } from '../cli/role.ts';
import { milliseconds } from '../domain/catalogue/durations.ts';
import { SEARCH_ATTRIBUTE } from '../workflows/messages.ts';

const text = readFileSync(join(import.meta.dirname, '..', 'docker-compose.yml'), 'utf8');
interface Service {
  image: string;
  ports?: string[];
  command?: string[];
  environment?: Record<string, string>;
  stop_grace_period?: string;
  read_only?: boolean;
  volumes?: { type: string; source: string; target: string; read_only?: boolean }[];
}

const { services, volumes } = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const ours = Object.entries(services).filter(([, { image }]) => image.startsWith('readback:'));

it('registers every search attribute before a worker starts', () => {
  const [, names = ''] =
    /for name in ([\w ]+); do/.exec(services['temporal-namespace']?.command?.[0] ?? '') ?? [];
  const registered = names.split(' ').map((name) => `Readback${name}`);
  assert.deepEqual(
    registered.sort(),
    Object.values(SEARCH_ATTRIBUTE)
      .map((key) => key.name)
      .sort(),
  );
});

it('publishes ports on loopback only', () => {
  const published = Object.values(services).flatMap((service) => service.ports ?? []);
  assert.ok(published.length > 0);
  assert.deepEqual(
    published.filter((port) => !port.startsWith('127.0.0.1:')),
    [],
  );
});

it('has no password or key of its own: each must be given', () => {
  const secrets = Object.values(services).flatMap((service) =>
    Object.entries(service.environment ?? {}).filter(([name]) => /PASSWORD|PWD|KEY|TOKEN|SECRET/.test(name)),
  );
  assert.ok(secrets.length > 0);
  assert.deepEqual(
    secrets.filter(([, value]) => !/^\$\{\w+:\?.+\}$/.test(value)),
    [],
  );
});

it('lets whoever starts it say where agents sign in, or that nobody does', () => {
  const { READBACK_AUTH_ISSUER: issuer, READBACK_ANYONE_MAY_COMMAND: anyone } =
    services['mcp-server']?.environment ?? {};
  assert.match(issuer ?? '', /^\$\{READBACK_AUTH_ISSUER\?.+\}$/);
  assert.equal(anyone, '${READBACK_ANYONE_MAY_COMMAND:-}');
});

it('pins every image to a version', () => {
  const loose = Object.values(services)
    .map(({ image }) => image)
    .filter((image) => !/:\d+\.\d+/.test(image));
  assert.deepEqual(loose, []);
});

it('lets a send under way finish before it ends a container', () => {
  assert.ok(ours.length >= 2);
  for (const [name, { stop_grace_period: grace }] of ours)
    assert.ok(milliseconds(grace ?? '10s') > STOP_WITHIN_MS, `${name} is killed after ${grace}`);
});

it('tells agents a console address that a person on this machine can open', () => {
  const { environment, ports } = services['mcp-server'] ?? {};
  const [, preset = ''] =
    /^\$\{READBACK_CONSOLE_URL:-(.+)\}$/.exec(environment?.['READBACK_CONSOLE_URL'] ?? '') ?? [];
  const { hostname, port } = new URL(preset);
  assert.ok(
    (ports ?? []).some((published) => published.startsWith(`${hostname}:${port}:`)),
    String(ports),
  );
});

it('keeps approvers and sign-ins on one volume, which every part of Readback sees and its image lets it write', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8');
  const user = /^USER (\d+):/m.exec(dockerfile)?.[1];
  const sources = ours.map(([name, service]) => {
    const folder = service.environment?.['READBACK_DATA_DIR'] ?? '';
    const volume = service.volumes?.find(({ type, target }) => type === 'volume' && folder === target);
    assert.ok(volume && volume.read_only !== true, `${name}: ${folder} is on no volume that can be written`);
    // A new volume takes its owner from the folder of the image.
    assert.match(dockerfile, new RegExp(`install -d -o ${user} .*${volume.target}\\b`));
    return volume.source;
  });
  assert.equal(new Set(sources).size, 1);
  assert.ok(Object.hasOwn(volumes, sources[0] ?? ''));
});
