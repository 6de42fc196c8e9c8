/** What a reply holds, as the paths by which expressions find it. */
import { plain } from './text.ts';
import type { Json } from './values.ts';

/** A reply may list a whole house; more paths than this help nobody. */
const MAX_PATHS = 300;
const MAX_DEPTH = 8;

/** Every scalar of the bodies, as the path by which an expression finds it. */
export function pathsIn(input: Json): readonly string[] {
  const found: string[] = [];
  const visit = (value: Json, path: string, depth: number): void => {
    if (found.length >= MAX_PATHS || depth > MAX_DEPTH) return;
    if (value === null || typeof value !== 'object') {
      found.push(path);
      return;
    }
    if (Array.isArray(value)) {
      value.slice(0, 3).forEach((item: Json, index) => visit(item, `${path}[${index}]`, depth + 1));
      return;
    }
    for (const [key, member] of Object.entries(value)) visit(member, `${path}.${pathKey(key)}`, depth + 1);
  };
  const parts = isMap(input) && Object.hasOwn(input, 'body') ? { body: input['body'] ?? null } : input;
  for (const [name, part] of Object.entries(isMap(parts) ? parts : {})) {
    if (name === 'body') visit(part, name, 0);
    else visit(memberOfMap(part, 'body') ?? null, `${name}.body`, 0);
  }
  return found;
}

const pathKey = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : `\`${plain(key, 64)}\``);

const isMap = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const memberOfMap = (value: Json | undefined, key: string): Json | undefined =>
  isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** A member of the one body that there is. */
export const memberOf = (input: Json, key: string): Json | undefined =>
  memberOfMap(memberOfMap(input, 'body'), key);
