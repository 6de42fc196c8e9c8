/** Which catalogue counts. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, Failure } from './failure.ts';
import { packageFile } from './package-root.ts';

/** The one that was asked for, else `./readback.yaml`, else the demo that comes with Readback. An absolute path. */
export function catalogueFile(asked: string | undefined): string {
  if (asked !== undefined) {
    if (!existsSync(asked))
      throw new Failure(EXIT.usage, `There is no catalogue at ${resolve(asked)}. Nothing was started.`);
    return resolve(asked);
  }
  const own = resolve('readback.yaml');
  return existsSync(own) ? own : packageFile('examples/demo.yaml');
}
