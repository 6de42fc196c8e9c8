/** Whether a catalogue can be worked with, before anything is started for it. */
import { createAdapters } from '../activities/adapters.ts';
import { openWebhook } from '../activities/webhook.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';

/** What the catalogue asks for that Readback can't do yet, one line each, naming the devices that need it. */
export function unusable(catalogue: Catalogue): readonly string[] {
  try {
    createAdapters(catalogue);
    openWebhook(catalogue);
    return [];
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n');
  }
}
