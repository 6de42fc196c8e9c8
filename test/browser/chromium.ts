/** A real Chromium with a profile of its own, as the system has it installed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Quiet and alone: it looks nothing up and reports nothing. `--no-sandbox`: CI runs as root. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

export interface Window {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

export async function openWindow(options: BrowserContextOptions = {}): Promise<Window> {
  const profile = mkdtempSync(join(tmpdir(), 'readback-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumProgram(),
    args: ARGUMENTS,
    ...options,
  });
  context.setDefaultTimeout(15_000);
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function chromiumProgram(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const file = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync);
  if (file === undefined)
    throw new Error(
      `The browser tests need one of ${NAMES.join(', ')} on PATH. On Debian: apt-get install chromium`,
    );
  return file;
}
