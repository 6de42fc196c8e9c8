/**
 * Profiles that come with Readback for devices behind zigbee2mqtt, by what they are. A device's own list of what it can do
 * (`exposes`) is known to the broker alone, and a catalogue is read without asking anybody: so these hold what all devices of
 * the kind have, and a device adds or removes (`null`) what is different about it. A user's profile can't have such a name.
 */
import type { RawMap } from './merge.ts';

/** What zigbee2mqtt publishes after a command may be what it asked for; what it publishes after a question comes from the device. */
function profile({ read, ...kind }: RawMap & { readonly read?: RawMap }, asked: readonly string[]): RawMap {
  return {
    params: { friendly_name: 'required', base: 'zigbee2mqtt' },
    send: { topic: '{base}/{friendly_name}/set', repeatable: true },
    ...kind,
    read: {
      topic: '{base}/{friendly_name}',
      ...(asked.length === 0
        ? {}
        : {
            ask: {
              topic: '{base}/{friendly_name}/get',
              body: Object.fromEntries(asked.map((property) => [property, ''])),
            },
          }),
      // The device's own is published where zigbee2mqtt watches over it; the bridge's is its last will.
      availability: ['{base}/{friendly_name}/availability', '{base}/bridge/state'],
      ...read,
    },
  };
}

const power: RawMap = { type: 'onoff', key: 'state', values: { on: 'ON', off: 'OFF' } };

export const ZIGBEE2MQTT_PROFILES: Readonly<Record<string, RawMap>> = {
  'zigbee2mqtt/switch': profile({ fields: { power } }, ['state']),
  'zigbee2mqtt/light': profile(
    {
      fields: {
        power,
        brightness: { type: 'percent', min: 1, device: { range: [0, 254] }, appliesWhen: { power: ['on'] } },
      },
    },
    ['state', 'brightness'],
  ),
  'zigbee2mqtt/cover': profile(
    {
      read: { moving: '(body.moving ?? "STOP") in ["UP", "DOWN"] or (body.running ?? false) = true' },
      fields: { position: { type: 'percent', tolerance: 2 } },
    },
    ['position'],
  ),
  'zigbee2mqtt/lock': profile(
    {
      fields: { lock: { type: 'enum', key: 'state', values: { locked: 'LOCK', unlocked: 'UNLOCK' } } },
      faults: { jammed: '(body.lock_state ?? "") = "not_fully_locked"' },
    },
    ['state'],
  ),
  'zigbee2mqtt/climate': profile(
    {
      fields: {
        mode: { type: 'enum', key: 'system_mode', values: ['off', 'heat', 'cool', 'auto'] },
        temperature: {
          type: 'celsius',
          key: 'occupied_heating_setpoint',
          min: 5,
          max: 30,
          step: 0.5,
          appliesWhen: { mode: ['heat', 'cool', 'auto'] },
        },
        action: { type: 'text', key: 'running_state', readOnly: true },
        current_temperature: { type: 'celsius', key: 'local_temperature', readOnly: true },
      },
    },
    ['system_mode', 'occupied_heating_setpoint', 'local_temperature'],
  ),
  /** For what is none of these: its fields and what it is asked for are the device's own to say. */
  'zigbee2mqtt/other': profile({ fields: {} }, []),
};
