/**
 * Home Assistant's domains: what can be set on an entity, the services that set it, where the reading is, and which of the
 * entity's own attributes tell whether it can do it at all.
 *
 * Which values, limits and features a single entity has is known to the instance alone, and a catalogue is read without asking
 * anybody: so every field of the domain is built in, free text where the values differ from entity to entity. `devices import`
 * writes down what the entity told of itself; and before anything is sent it is asked again (activities/home-assistant-entity.ts).
 *
 * Temperatures are in the instance's own unit, known only at run time: ours is °C unless the catalogue says otherwise, and
 * `device.unit` stays null for the adapter to fill in.
 */
import { attribute, type Domain, onAndOff, power, services, setter, state } from './home-assistant-domain.ts';

const temperature = { type: 'celsius', read: attribute('temperature') };
const currentTemperature = { type: 'celsius', readOnly: true, read: attribute('current_temperature') };
const temperatureRange = { range: ['min_temp', 'max_temp'], step: 'target_temp_step' } as const;

/** `position` and a named end of it: covers and valves are the same thing to Home Assistant. */
function opening(domain: 'cover' | 'valve', end: string, setPosition: string): Domain {
  return {
    fields: {
      position: { type: 'percent', read: attribute('current_position') },
      [end]: { type: 'enum', values: ['open', 'closed'], read: state },
    },
    send: [
      setter(`${domain}/${setPosition}`, 'position', 'position'),
      ...services(domain, end, { open: `open_${domain}`, closed: `close_${domain}` }),
    ],
    abilities: {
      position: { feature: 4, what: 'positions' },
      [end]: { feature: { open: 1, closed: 2 }, what: { open: 'opening', closed: 'closing' } },
    },
    moving: 'body.state in ["opening", "closing"]',
  };
}

/** Domains and their `input_` twins, which people define themselves. */
const number: Domain = {
  fields: { value: { type: 'number', read: state } },
  send: [setter('number/set_value', 'value', 'value')],
  abilities: { value: { range: ['min', 'max'], step: 'step', unit: 'unit_of_measurement' } },
};
const select: Domain = {
  fields: { option: { type: 'text', read: state } },
  send: [setter('select/select_option', 'option', 'option')],
  abilities: { option: { list: 'options' } },
};
const toggled: Domain = { fields: { power }, send: onAndOff('switch') };
/** That it was pressed is Home Assistant's own note; what happened then, nobody says. */
const button: Domain = {
  fields: { press: { type: 'action', readback: 'none' } },
  send: [{ service: 'button/press', for: ['press'], kind: 'pulse' }],
  startsUnknown: true,
};

const inputTwin = (domain: Domain, name: string): Domain => ({
  ...domain,
  send: domain.send.map((one) => ({ ...one, service: one.service.replace(/^[a-z]+/, name) })),
});

const mediaPlayer: Domain = {
  fields: {
    power: {
      ...power,
      values: { on: ['on', 'idle', 'playing', 'paused', 'buffering'], off: ['off', 'standby'] },
    },
    volume: {
      type: 'percent',
      device: { range: [0, 1] },
      read: attribute('volume_level'),
      appliesWhen: { power: ['on'] },
    },
    muted: {
      type: 'onoff',
      values: { on: true, off: false },
      read: attribute('is_volume_muted'),
      appliesWhen: { power: ['on'] },
    },
    source: { type: 'text', read: attribute('source'), appliesWhen: { power: ['on'] } },
    sound_mode: { type: 'text', read: attribute('sound_mode'), appliesWhen: { power: ['on'] } },
    playback: { type: 'enum', values: ['playing', 'paused'], read: state, appliesWhen: { power: ['on'] } },
  },
  send: [
    ...onAndOff('media_player'),
    setter('media_player/volume_set', 'volume', 'volume_level'),
    setter('media_player/volume_mute', 'muted', 'is_volume_muted'),
    setter('media_player/select_source', 'source', 'source'),
    setter('media_player/select_sound_mode', 'sound_mode', 'sound_mode'),
    ...services('media_player', 'playback', { playing: 'media_play', paused: 'media_pause' }),
  ],
  abilities: {
    power: { feature: { on: 128, off: 256 }, what: { on: 'turning on', off: 'turning off' } },
    volume: { feature: 4, what: 'setting the volume' },
    muted: { feature: 8, what: 'muting' },
    source: { feature: 2048, what: 'choosing a source', list: 'source_list' },
    sound_mode: { feature: 65_536, what: 'sound modes', list: 'sound_mode_list' },
    playback: { feature: { playing: 16_384, paused: 1 }, what: { playing: 'playing', paused: 'pausing' } },
  },
  moving: 'body.state = "buffering"',
};

const vacuum: Domain = {
  fields: {
    activity: { type: 'enum', values: ['cleaning', 'docked', 'paused', 'idle'], read: state },
    fan_speed: { type: 'text', read: attribute('fan_speed') },
    locate: { type: 'action', readback: 'none' },
    battery: { type: 'percent', readOnly: true, read: attribute('battery_level') },
  },
  send: [
    ...services('vacuum', 'activity', {
      cleaning: 'start',
      docked: 'return_to_base',
      paused: 'pause',
      idle: 'stop',
    }),
    setter('vacuum/set_fan_speed', 'fan_speed', 'fan_speed'),
    { service: 'vacuum/locate', for: ['locate'], kind: 'pulse' },
  ],
  abilities: {
    activity: {
      feature: { cleaning: 8192, docked: 16, paused: 4, idle: 8 },
      what: { cleaning: 'starting', docked: 'returning to its dock', paused: 'pausing', idle: 'stopping' },
    },
    fan_speed: { feature: 32, what: 'fan speeds', list: 'fan_speed_list' },
    locate: { feature: 512, what: 'being located' },
    battery: { feature: 64, what: 'telling its battery level' },
  },
  moving: 'body.state = "returning"',
  faults: { error: 'body.state = "error"' },
};

const ARMED = ['armed_home', 'armed_away', 'armed_night', 'armed_vacation', 'armed_custom_bypass'] as const;

const alarm: Domain = {
  fields: { alarm: { type: 'enum', values: ['disarmed', ...ARMED], read: state } },
  send: services('alarm_control_panel', 'alarm', {
    disarmed: 'alarm_disarm',
    ...Object.fromEntries(ARMED.map((mode) => [mode, `alarm_${mode.replace('armed', 'arm')}`])),
  }),
  abilities: {
    alarm: {
      feature: { armed_home: 1, armed_away: 2, armed_night: 4, armed_vacation: 32, armed_custom_bypass: 16 },
      what: Object.fromEntries(ARMED.map((mode) => [mode, `the mode ${mode}`])),
    },
  },
  moving: 'body.state in ["arming", "disarming", "pending"]',
  faults: { triggered: 'body.state = "triggered"' },
};

export const DOMAINS: Readonly<Record<string, Domain>> = {
  climate: {
    fields: {
      mode: {
        type: 'enum',
        values: ['off', 'heat', 'cool', 'heat_cool', 'auto', 'dry', 'fan_only'],
        read: state,
      },
      temperature: {
        ...temperature,
        appliesWhen: { mode: ['off', 'heat', 'cool', 'heat_cool', 'auto', 'dry'] },
      },
      action: { type: 'text', readOnly: true, read: attribute('hvac_action') },
      current_temperature: currentTemperature,
    },
    send: [
      setter('climate/set_hvac_mode', 'mode', 'hvac_mode'),
      setter('climate/set_temperature', 'temperature', 'temperature'),
    ],
    abilities: {
      mode: { list: 'hvac_modes' },
      temperature: { ...temperatureRange, feature: 1, what: 'one target temperature', changesWithMode: true },
    },
  },
  light: {
    fields: {
      power,
      brightness: {
        type: 'percent',
        min: 1,
        device: { range: [0, 255] },
        read: attribute('brightness'),
      },
    },
    // Home Assistant turns a light on to give it a brightness; there is no other way, and it is what its users expect.
    send: [
      ...onAndOff('light', { brightness: '=$wire.brightness' }),
      setter('light/turn_on', 'brightness', 'brightness'),
    ],
    abilities: {
      brightness: { colourModes: { none: ['onoff', 'unknown'], what: 'be dimmed' }, turnsOn: true },
    },
  },
  fan: {
    fields: { power, percentage: { type: 'percent', read: attribute('percentage') } },
    // Turned on without a percentage, a fan takes one of its own: so both go in one call. A percentage alone has its own service.
    send: [
      ...onAndOff('fan', { percentage: '=$wire.percentage' }),
      setter('fan/set_percentage', 'percentage', 'percentage'),
    ],
    abilities: { percentage: { feature: 1, what: 'a speed', turnsOn: true } },
  },
  cover: opening('cover', 'door', 'set_cover_position'),
  valve: opening('valve', 'valve', 'set_valve_position'),
  lock: {
    fields: { lock: { type: 'enum', values: ['locked', 'unlocked'], read: state } },
    send: services('lock', 'lock', { locked: 'lock', unlocked: 'unlock' }),
    moving: 'body.state in ["locking", "unlocking", "opening"]',
    faults: { jammed: 'body.state = "jammed"' },
  },
  switch: toggled,
  humidifier: {
    fields: {
      power,
      humidity: { type: 'percent', read: attribute('humidity') },
      mode: { type: 'text', read: attribute('mode') },
      action: { type: 'text', readOnly: true, read: attribute('action') },
      current_humidity: { type: 'percent', readOnly: true, read: attribute('current_humidity') },
    },
    send: [
      ...onAndOff('humidifier'),
      setter('humidifier/set_humidity', 'humidity', 'humidity'),
      setter('humidifier/set_mode', 'mode', 'mode'),
    ],
    abilities: {
      humidity: { range: ['min_humidity', 'max_humidity'], step: 'target_humidity_step' },
      mode: { feature: 1, what: 'modes', list: 'available_modes' },
    },
  },
  water_heater: {
    fields: {
      mode: { type: 'text', read: state },
      temperature,
      away: { type: 'onoff', read: attribute('away_mode') },
      current_temperature: currentTemperature,
    },
    send: [
      setter('water_heater/set_operation_mode', 'mode', 'operation_mode'),
      setter('water_heater/set_temperature', 'temperature', 'temperature'),
      // The service wants a boolean; the state shows on and off.
      { service: 'water_heater/set_away_mode', for: ['away'], data: { away_mode: '=$wire.away = "on"' } },
    ],
    abilities: {
      mode: { feature: 2, what: 'modes', list: 'operation_list' },
      temperature: { ...temperatureRange, feature: 1, what: 'a target temperature' },
      away: { feature: 4, what: 'an away mode' },
    },
  },
  number,
  input_number: inputTwin(number, 'input_number'),
  select,
  input_select: inputTwin(select, 'input_select'),
  input_boolean: inputTwin(toggled, 'input_boolean'),
  vacuum,
  media_player: mediaPlayer,
  siren: {
    fields: { power },
    send: onAndOff('siren'),
    abilities: { power: { feature: { on: 1, off: 2 }, what: { on: 'turning on', off: 'turning off' } } },
  },
  alarm_control_panel: alarm,
  button,
  input_button: inputTwin(button, 'input_button'),
};
