import { join } from 'node:path';
import { DEFAULT_DATA_DIR } from '../cli/data-folder.ts';
import { fetchTemporal, installedTemporal, type TemporalProgram } from '../cli/up/temporal-program.ts';

/** Where `npm start` keeps its own, so that neither fetches what the other one has. */
const dataDir = join(import.meta.dirname, '..', DEFAULT_DATA_DIR);
const FETCH_WITHIN_MS = 10 * 60_000;

/** The `temporal` program as `readback up` finds it: on PATH, else fetched earlier, else fetched now. */
export async function temporalProgram(): Promise<TemporalProgram> {
  const say = (text: string) => console.error(text);
  const installed = await installedTemporal(dataDir, say);
  return installed ?? fetchTemporal(dataDir, say, AbortSignal.timeout(FETCH_WITHIN_MS));
}
