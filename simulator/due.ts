/** Nothing in a device runs on timers: what is due happens when somebody next looks, as of the time it was due. */
import { behave, type Device, setByHand } from './device.ts';
import { takeReport } from './reading.ts';

/** To be called before anything else is asked of the device. */
export function catchUp(device: Device, now: number): void {
  for (let next = device.agenda[0]; next && next.at <= now; next = device.agenda[0]) {
    takeReport(device, next.at);
    device.agenda = device.agenda.slice(1);
    if (next.event.set) setByHand(device, next.event.set, next.at);
    if (next.event.behaviour) behave(device, next.event.behaviour);
  }
  takeReport(device, now);
}
