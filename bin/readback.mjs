#!/usr/bin/env node
// Runs the TypeScript sources as they are: no build step stands between a checkout (or `npx`) and the command.
import * as module from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `readback needs Node 20.19 or newer; this is ${process.version}. See https://nodejs.org\n`,
  );
  process.exit(2);
}
module.enableCompileCache?.();
const { register } = await import('tsx/esm/api');
// `tsconfig: false`: whatever lies in the folder where the command was called has no say in how it runs.
register({ tsconfig: false });
const { main } = await import('../cli/main.ts');
await main(process.argv);
