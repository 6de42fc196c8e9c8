#!/usr/bin/env node
// Runs the TypeScript sources as they are: no build step stands between a checkout (or `npx`) and the command.
import { readFileSync } from 'node:fs';
import * as module from 'node:module';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  process.stderr.write(
    `readback needs Node ${oldest} or newer; this is ${process.version}. See https://nodejs.org\n`,
  );
  process.exit(2);
}
module.enableCompileCache?.();
const { register } = await import('tsx/esm/api');
// `tsconfig: false`: whatever lies in the folder where the command was called has no say in how it runs.
register({ tsconfig: false });
const { main } = await import('../cli/main.ts');
await main(process.argv);
