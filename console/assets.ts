/** Style, script and icon: three small files, served by ourselves. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';

const ASSETS = {
  '/console.css': ['console.css', 'text/css; charset=utf-8'],
  '/console.js': ['console.mjs', 'text/javascript; charset=utf-8'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
} as const;

/** The version of them all, for their addresses. */
export function addAssets(console: Hono): string {
  const hash = createHash('sha256');
  for (const [path, [name, type]] of Object.entries(ASSETS)) {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
    hash.update(content);
    console.get(path, (c) =>
      c.body(content, 200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }),
    );
  }
  return hash.digest('hex').slice(0, 8);
}
