/**
 * A command's turn at its device: judged at the gate, placed in the lane, looked at, judged again. The lane hands out a
 * place; going on is up to the command, once all ahead are closed. Waiting costs no history: the next in line long-polls
 * the one ahead, the others come back by retry.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { cutSendMayArriveMs } from '../domain/time-needed.ts';
import { type Turn, type TurnInput } from '../workflows/activity-types.ts';
import { FAILURE } from '../workflows/messages.ts';
import { patientBaseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf, timeoutOf } from './dependencies.ts';
import { isCovered, judge, misfitOf, requirementFor } from './judge.ts';
import { enterLane } from './lane-place.ts';
import { lookAt, policyFor } from './look.ts';
import { type ClosedCommands, untilClosed, waiting } from './other-commands.ts';

const HEARTBEAT_EVERY_MS = 5000;
/** Per lane, the commands that this worker knows to be closed: told to the lane with the next entry, which forgets them. */
const KNOWN_CLOSED_LIMIT = 1000;
/** A worker with another catalogue may take the next attempt, or this one be given a new one. */
const ASK_ANOTHER_WORKER_AFTER_MS = 5000;

/** What an attempt leaves to the next one. */
interface Kept {
  readonly ahead: readonly string[];
}

export function createTakeTurn(): (dependencies: ActivityDependencies, input: TurnInput) => Promise<Turn> {
  const closedIn = createClosedRegister();

  return async (dependencies, input) => {
    const { request, approved } = input;
    const device = deviceOf(dependencies, request.device);
    if (device === undefined) throw unknownHere(request.device);
    const why = misfitOf(device, request);
    if (why !== null) return { kind: 'misfit', why };
    const closed = closedIn(device.id);
    const context = Context.current();
    let kept = context.info.heartbeatDetails as Kept | null | undefined;
    const beat = setInterval(() => context.heartbeat(kept), HEARTBEAT_EVERY_MS);
    try {
      if (kept == null) {
        const asked = await judge(dependencies, device, input);
        if (asked !== null) return asked;
        const place = await enterLane(dependencies, device, input, closed);
        if (place.kind !== 'entered') return place;
        kept = { ahead: place.ahead };
        context.heartbeat(kept);
      }
      const cutSendMs = cutSendMayArriveMs(timeoutOf(dependencies, device));
      const { lagMs } = policyFor(device, Object.keys(request.desired));
      const mayActUntil = await untilClosed(dependencies.client, {
        ids: kept.ahead,
        closed,
        cutSendMs,
        lagMs,
      });
      // It may have waited for minutes, and what comes now has to be judged by the catalogue that is in force now.
      if (dependencies.isOutdated()) throw waiting('the catalogue has changed meanwhile', 1);
      const read = await patientBaseline(dependencies, device, request.desired);
      const needed = await requirementFor(dependencies, device, request, read.sample.fields);
      if (!isCovered(dependencies, device, request, { needed, approved })) return { kind: 'void' };
      const look = await lookAt(dependencies, request, read);
      if (mayActUntil <= Date.now()) return { kind: 'ready', look };
      // What an earlier command sent may still change the device: as it reads now says nothing of how it will be.
      if (look.steps.some((step) => step.kind !== 'set')) {
        throw waiting('what was sent before may still change the device', mayActUntil - Date.now());
      }
      return { kind: 'ready', look: { ...look, already: [] } };
    } finally {
      clearInterval(beat);
    }
  };
}

/** Which commands this worker has seen closed, per lane; bounded, oldest forgotten first. */
function createClosedRegister(): (device: string) => ClosedCommands {
  const lanes = new Map<string, ClosedCommands>();
  return (device) => {
    const closed: ClosedCommands = lanes.get(device) ?? new Map<string, number>();
    lanes.set(device, closed);
    for (const oldest of closed.keys()) {
      if (closed.size <= KNOWN_CLOSED_LIMIT) break;
      closed.delete(oldest);
    }
    return closed;
  };
}

function unknownHere(device: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: `${device} is not in the catalogue that the worker has loaded; does it read the same file as the server, and can it use it? Its log tells`,
    type: FAILURE.catalogueMismatch,
    nextRetryDelay: ASK_ANOTHER_WORKER_AFTER_MS,
  });
}
