/**
 * The catalogue that a worker works by, and the connections that it needs: replaced as one, while whoever is at work goes on
 * with what they began with. A connection that is as it was keeps its session and its pace.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import type { Adapters, DeviceAdapter } from './adapter.ts';
import { createAdapters, openAdapter, type Shared } from './adapters.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { openWebhook, type Webhook } from './webhook.ts';

type Dependencies = Pick<ActivityDependencies, 'catalogue' | 'adapters' | 'webhook' | 'isOutdated'>;

export interface InForce {
  /** Does `work` by the catalogue of this moment, and keeps its connections open until that is over. */
  use<T>(work: (dependencies: Dependencies) => Promise<T>): Promise<T>;
  /** From the next `use` on. Throws, and changes nothing, for a catalogue whose connections can't be opened. */
  replace(catalogue: Catalogue): void;
  /** Nothing may be in use any more. */
  close(): Promise<void>;
}

interface Opened {
  readonly connection: Connection;
  readonly adapter: DeviceAdapter;
}

/** One catalogue, from its coming into force until the last one who works by it has ended. */
interface Generation {
  readonly catalogue: Catalogue;
  readonly adapters: Adapters;
  readonly needed: ReadonlySet<Opened>;
  readonly webhook: Webhook | null;
  users: number;
}

/** Throws for a catalogue whose connections can't be opened. */
export function putInForce(first: Catalogue, shared: Shared = {}): InForce {
  const opened = new Set<Opened>();
  const replaced = new Set<Generation>();
  const generation = (catalogue: Catalogue, before: Generation | null) =>
    openGeneration(catalogue, { opened, before, shared });
  let current = generation(first, null);

  /** Closes what neither the present catalogue needs nor anybody who still works by an earlier one. */
  async function closeUnneeded(): Promise<void> {
    for (const earlier of replaced) if (earlier.users === 0) replaced.delete(earlier);
    const living = [current, ...replaced];
    const unneeded = [...opened].filter((one) => !living.some(({ needed }) => needed.has(one)));
    for (const one of unneeded) opened.delete(one);
    await closeAll(unneeded);
  }

  return {
    async use(work) {
      const mine = current;
      const { catalogue, adapters, webhook } = mine;
      mine.users += 1;
      try {
        return await work({
          catalogue: () => catalogue,
          adapters,
          webhook,
          isOutdated: () => mine !== current,
        });
      } finally {
        mine.users -= 1;
        if (mine !== current) void closeUnneeded();
      }
    },
    replace(catalogue) {
      const next = generation(catalogue, current);
      replaced.add(current);
      current = next;
      void closeUnneeded();
    },
    close: () => closeAll([...opened]),
  };
}

/** Adds to `opened` what it had to open, once all of it could be. */
function openGeneration(
  catalogue: Catalogue,
  {
    opened,
    before,
    shared,
  }: { readonly opened: Set<Opened>; readonly before: Generation | null; readonly shared: Shared },
): Generation {
  const needed = new Set<Opened>();
  const adapters = createAdapters(catalogue, (connection) => {
    const known = [...opened].find((one) => isDeepStrictEqual(one.connection, connection));
    const one = known ?? { connection, adapter: openAdapter(connection, shared) };
    needed.add(one);
    return one.adapter;
  });
  const isSame = before !== null && isDeepStrictEqual(bellOf(before.catalogue), bellOf(catalogue));
  const webhook = isSame ? before.webhook : openWebhook(catalogue, shared.lenderOf);
  for (const one of needed) opened.add(one);
  return { catalogue, adapters, needed, webhook, users: 0 };
}

const bellOf = ({ settings, connections }: Catalogue): Connection | undefined =>
  settings.webhook === null ? undefined : connections[settings.webhook];

/** One that can't say goodbye is gone all the same. */
async function closeAll(opened: readonly Opened[]): Promise<void> {
  await Promise.allSettled(opened.map(async ({ adapter }) => await adapter.close?.()));
}
