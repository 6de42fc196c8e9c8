/** `npm run docs`: writes the catalogue's JSON Schema, for editors, from the source that validates it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogueJsonSchema } from '../domain/catalogue/schema.ts';

const file = join(import.meta.dirname, '..', 'docs', 'catalogue.schema.json');
writeFileSync(file, `${JSON.stringify(catalogueJsonSchema(), null, 2)}\n`);
console.log(`Wrote ${file}`);
