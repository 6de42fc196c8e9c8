/** Everything in the workflow bundle. */
export { budget } from './budget.ts';
export { deviceCommand } from './device-command.ts';
export { lane } from './lane.ts';
export { probeDevice, readDevice, rehearseCommand } from './read-device.ts';
