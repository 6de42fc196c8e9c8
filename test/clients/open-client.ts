/** Each client of the matrix by its id. */
import type { ClientParts, MatrixClient } from './client.ts';
import { inspectorCli, mcpdo } from './inspector-clients.ts';
import { pythonClient } from './python-clients.ts';
import type { ClientId } from './rows.ts';
import { sdkClient, taskClient, typescriptClient } from './typescript-clients.ts';

const OPEN: Readonly<Record<ClientId, (parts: ClientParts) => Promise<MatrixClient>>> = {
  typescript: typescriptClient,
  'ext-tasks': taskClient,
  sdk: sdkClient,
  'inspector-cli': inspectorCli,
  mcpdo,
  mcp: pythonClient,
  fastmcp: pythonClient,
  'fastmcp-tasks': pythonClient,
};

/** Starting is what costs: more at once, and a client takes a server that is slow to start for one that is too old. */
const STARTING_AT_ONCE = 2;
const starting = new Set<Promise<unknown>>();

export async function openClient(parts: ClientParts): Promise<MatrixClient> {
  while (starting.size >= STARTING_AT_ONCE) await Promise.race(starting);
  const opening = OPEN[parts.row.client](parts);
  const settled: Promise<unknown> = opening.then(
    () => starting.delete(settled),
    () => starting.delete(settled),
  );
  starting.add(settled);
  return await opening;
}
