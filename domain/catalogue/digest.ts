import { createHash } from 'node:crypto';

/** SHA-256, in hexadecimal, of a value's canonical JSON: keys sorted, so that their order in a file doesn't count. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const map = value as Readonly<Record<string, unknown>>;
  let members = '';
  for (const key of Object.keys(map).sort()) {
    if (map[key] === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonical(map[key])}`;
  }
  return `{${members}}`;
}
