/** The guide and the schema say what the code does. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { expressionProblem } from '../../../domain/catalogue/expressions.ts';
import { catalogueJsonSchema } from '../../../domain/catalogue/schema.ts';
import { differences } from '../../../domain/examples.ts';
import { load } from './loading.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const guide = await readFile(join(DOCS, 'catalogue.md'), 'utf8');
const VENDOR = 'connections: { vendor: { kind: http, baseUrl: "http://127.0.0.1:4100" } }\n';

describe('docs/catalogue.md', () => {
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');

  it('has an example for each of its sections', () => assert.ok(blocks.length >= 9, String(blocks.length)));

  for (const [index, block] of blocks.entries()) {
    it(`example ${index + 1} loads: ${block.split('\n')[0]}`, async () => {
      const yaml = /^connections:/m.test(block) ? block : `${VENDOR}${block}`;
      const loaded = await load(yaml, {
        environment: {
          VENDOR_TOKEN: 'a',
          LOCAL_KEY: 'b',
          HOME_ASSISTANT_TOKEN: 'c',
          MQTT_PASSWORD: 'd',
          PHONE_SECRET: 'e',
          CAMERA_PASSWORD: 'f',
          NAS_PASSWORD: 'g',
          AIRCON_SECRET: 'h',
          AIRCON_REFRESH: 'i',
          SWITCHBOT_TOKEN: 'j',
          SWITCHBOT_SECRET: 'k',
          TUYA_ID: 'l',
          TUYA_SECRET: 'm',
          BRIDGE_SECRET: 'n',
          DOOR_PIN: '482913',
        },
      });
      assert.ok(loaded.ok, JSON.stringify(loaded));
      for (const example of loaded.examples) assert.deepEqual(await differences(example), []);
    });
  }

  it('names every key of the format', () => {
    const names = new Set<string>();
    collectKeys(catalogueJsonSchema(), names);
    const words = new Set(guide.match(/[A-Za-z_]+/g));
    const unexplained = [...names].filter((name) => !words.has(name));
    assert.deepEqual(unexplained, []);
  });

  it('lists the functions that expressions may call', () => {
    const listed = /these functions: `([^`]*)`/.exec(guide)?.[1]?.match(/\$\w+/g) ?? [];
    const refused = /allowed are (.*)$/.exec(String(expressionProblem('$eval(1)')))?.[1]?.match(/\$\w+/g);
    assert.deepEqual(listed, refused);
  });
});

function collectKeys(schema: unknown, names: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) collectKeys(item, names);
  else if (typeof schema === 'object' && schema !== null) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name);
      collectKeys(value, names);
    }
  }
}

describe('docs/catalogue.schema.json', () => {
  it('is what `npm run docs` writes', async () => {
    const written: unknown = JSON.parse(await readFile(join(DOCS, 'catalogue.schema.json'), 'utf8'));
    assert.deepEqual(written, JSON.parse(JSON.stringify(catalogueJsonSchema())), 'run `npm run docs`');
  });
});
