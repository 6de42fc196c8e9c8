/** What docker-compose.yml must keep true; that it is a valid file only Compose itself can say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { SEARCH_ATTRIBUTE } from '../workflows/messages.ts';

const text = readFileSync(join(import.meta.dirname, '..', 'docker-compose.yml'), 'utf8');
const { services } = parse(text, { merge: true }) as {
  services: Record<
    string,
    { image: string; ports?: string[]; command?: string[]; environment?: Record<string, string> }
  >;
};

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

it('pins every image to a version', () => {
  const loose = Object.values(services)
    .map(({ image }) => image)
    .filter((image) => !/:\d+\.\d+/.test(image));
  assert.deepEqual(loose, []);
});
