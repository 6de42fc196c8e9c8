/** What there is to be commanded on the other side of a connection, as proposals for a catalogue. */
import { homeAssistantInventory } from '../activities/home-assistant-inventory.ts';
import { zigbee2mqttInventory } from '../activities/zigbee2mqtt-inventory.ts';
import type { Connection } from '../domain/catalogue/definition.ts';
import { homeAssistantProposals } from '../domain/import/home-assistant.ts';
import type { Found } from '../domain/import/proposal.ts';
import { zigbee2mqttProposals } from '../domain/import/zigbee2mqtt.ts';

/** `base` is zigbee2mqtt's base topic. Throws, in words for people, where nobody answers, or not as expected. */
export async function foundDevices(connection: Connection, base: string): Promise<Found> {
  return connection.kind === 'home-assistant'
    ? homeAssistantProposals(await homeAssistantInventory(connection))
    : zigbee2mqttProposals(await zigbee2mqttInventory(connection, base), base);
}
