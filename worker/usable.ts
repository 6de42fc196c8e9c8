/** Whether a catalogue can be worked with, before anything is started for it. */
import { createAdapters } from '../activities/adapters.ts';
import { openWebhook } from '../activities/webhook.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';

/** What keeps connections of the catalogue from being worked with, one line each, naming the devices that need them. */
export function unusable(catalogue: Catalogue): readonly string[] {
  try {
    createAdapters(catalogue);
    openWebhook(catalogue);
    return [];
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n');
  }
}
