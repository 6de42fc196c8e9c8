/** What zigbee2mqtt keeps on `bridge/devices` for a small house: shortened, otherwise as its devices describe themselves. */
import type { Json } from '../../../domain/values.ts';

const state = {
  type: 'binary',
  name: 'state',
  property: 'state',
  access: 7,
  value_on: 'ON',
  value_off: 'OFF',
  value_toggle: 'TOGGLE',
};
const linkquality = {
  type: 'numeric',
  name: 'linkquality',
  property: 'linkquality',
  access: 1,
  unit: 'lqi',
  value_min: 0,
  value_max: 255,
  category: 'diagnostic',
};
const battery = {
  type: 'numeric',
  name: 'battery',
  property: 'battery',
  access: 1,
  unit: '%',
  value_min: 0,
  value_max: 100,
  category: 'diagnostic',
};
const measured = (name: string, unit: string, access = 5): Json => ({
  type: 'numeric',
  name,
  property: name,
  access,
  unit,
});

function device(
  address: string,
  name: string,
  description: string,
  exposes: Json,
  more: Record<string, Json> = {},
): Json {
  return {
    ieee_address: address,
    type: 'Router',
    network_address: 4711,
    supported: true,
    disabled: false,
    friendly_name: name,
    definition: {
      model: `M-${address.slice(-2)}`,
      vendor: 'Example',
      description,
      supports_ota: false,
      options: [],
      exposes,
    },
    endpoints: {},
    power_source: 'Mains (single phase)',
    interview_completed: true,
    ...more,
  };
}

const asleep = { type: 'EndDevice', power_source: 'Battery' };

export const BRIDGE_DEVICES: Json = [
  {
    ieee_address: '0x00124b0000000000',
    type: 'Coordinator',
    friendly_name: 'Coordinator',
    supported: false,
    definition: null,
    power_source: null,
  },
  device('0x00124b0000000001', 'Study/desk lamp', 'LED bulb, tunable white', [
    {
      type: 'light',
      features: [
        state,
        {
          type: 'numeric',
          name: 'brightness',
          property: 'brightness',
          access: 7,
          value_min: 0,
          value_max: 254,
        },
        {
          type: 'numeric',
          name: 'color_temp',
          property: 'color_temp',
          access: 7,
          unit: 'mired',
          value_min: 250,
          value_max: 454,
        },
      ],
    },
    { type: 'enum', name: 'effect', property: 'effect', access: 2, values: ['blink', 'breathe', 'okay'] },
    {
      type: 'enum',
      name: 'power_on_behavior',
      property: 'power_on_behavior',
      access: 7,
      values: ['off', 'on'],
      category: 'config',
    },
    linkquality,
  ]),
  device('0x00124b0000000002', 'kettle', 'Smart plug with power metering', [
    { type: 'switch', features: [state] },
    measured('power', 'W'),
    measured('energy', 'kWh'),
    linkquality,
  ]),
  device(
    '0x00124b0000000003',
    'bathroom radiator',
    'Radiator valve with thermostat',
    [
      {
        type: 'climate',
        features: [
          {
            type: 'numeric',
            name: 'occupied_heating_setpoint',
            property: 'occupied_heating_setpoint',
            access: 7,
            unit: '°C',
            value_min: 5,
            value_max: 28,
            value_step: 0.5,
          },
          {
            type: 'numeric',
            name: 'local_temperature',
            property: 'local_temperature',
            access: 5,
            unit: '°C',
          },
          { type: 'enum', name: 'system_mode', property: 'system_mode', access: 7, values: ['off', 'heat'] },
          {
            type: 'numeric',
            name: 'local_temperature_calibration',
            property: 'local_temperature_calibration',
            access: 7,
            unit: '°C',
          },
        ],
      },
      battery,
      linkquality,
    ],
    asleep,
  ),
  device('0x00124b0000000004', 'bedroom blind', 'Roller blind motor', [
    {
      type: 'cover',
      features: [
        { type: 'enum', name: 'state', property: 'state', access: 3, values: ['OPEN', 'CLOSE', 'STOP'] },
        {
          type: 'numeric',
          name: 'position',
          property: 'position',
          access: 7,
          unit: '%',
          value_min: 0,
          value_max: 100,
        },
      ],
    },
    linkquality,
  ]),
  device(
    '0x00124b0000000005',
    'front door',
    'Smart lock',
    [
      {
        type: 'lock',
        features: [
          {
            type: 'binary',
            name: 'state',
            property: 'state',
            access: 7,
            value_on: 'LOCK',
            value_off: 'UNLOCK',
          },
          {
            type: 'enum',
            name: 'lock_state',
            property: 'lock_state',
            access: 1,
            values: ['not_fully_locked', 'locked', 'unlocked'],
          },
        ],
      },
      battery,
    ],
    asleep,
  ),
  device('0x00124b0000000006', 'meter', 'Socket that only measures', [
    measured('power', 'W'),
    measured('voltage', 'V'),
    linkquality,
  ]),
  device(
    '0x00124b0000000007',
    'hall thermometer',
    'Temperature and humidity sensor',
    [measured('temperature', '°C', 1), measured('humidity', '%', 1), battery],
    asleep,
  ),
  device('0x00124b0000000008', 'double switch', 'Two-gang wall switch', [
    { type: 'switch', endpoint: 'left', features: [{ ...state, property: 'state_left', endpoint: 'left' }] },
    {
      type: 'switch',
      endpoint: 'right',
      features: [{ ...state, property: 'state_right', endpoint: 'right' }],
    },
  ]),
  device('0x00124b0000000009', 'garden valve', 'Water valve controller', [
    { type: 'switch', features: [{ ...state, access: 3 }] },
  ]),
  device('0x00124b000000000a', 'cellar', 'Unknown', [], { supported: false, definition: null }),
  device('0x00124b000000000b', 'evil\u202e${HA_TOKEN}\nname/#', 'Plug', [
    { type: 'switch', features: [state] },
  ]),
];
