/** Accepting a command: validate, join what is the same, start the workflow. Nothing is started by bad input. */
import { randomBytes } from 'node:crypto';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Catalogue, DeviceDefinition } from '../domain/catalogue/definition.ts';
import { digestOf } from '../domain/catalogue/digest.ts';
import { acceptedView, type CommandRequest } from '../domain/command.ts';
import { parseDesired } from '../domain/desired.ts';
import { findDevice } from '../domain/devices.ts';
import { quoted } from '../domain/quoted.ts';
import { desiredInWords, plain } from '../domain/text.ts';
import type { Desired } from '../domain/values.ts';
import { MEMO_KEY, SEARCH_ATTRIBUTE, TASK_QUEUE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import {
  type CommandSnapshot,
  InputError,
  type MissingValues,
  type Submission,
  type Submitted,
} from './commands.ts';
import { demand } from './engine.ts';
import type { KnownCommands } from './known-commands.ts';

/** An agent's harness that repeats a failed call does so within this time. */
const REPEAT_GUARD_MS = 10 * 60_000;
const LONGEST_REASON = 200;
const LONGEST_ID = 200;

export interface Submitter {
  submit(submission: Submission): Promise<Submitted>;
}

/** A submission that fits the catalogue. */
export interface Accepted {
  readonly device: DeviceDefinition;
  readonly desired: Desired;
  readonly coerced: readonly string[];
  readonly request: CommandRequest;
  readonly keys: Keys;
}

/** Digests that find the same call again without showing what it says. */
interface Keys {
  /** Caller, device and desired. */
  readonly content: string;
  /** `content` with requestId and resendOf: equal open commands are one. */
  readonly call: string;
  /** Caller and requestId. */
  readonly request: string | null;
}

/** Throws `InputError`, which says what is wrong, what is allowed, and that nothing was sent. */
export function accept(catalogue: Catalogue, submission: Submission): Accepted {
  const device = deviceNamed(catalogue, submission.device);
  const parsed = parseDesired(device, submission.desired);
  if (!parsed.ok) {
    throw new InputError(parsed.problems.join('\n'), { missing: missingValues(device, parsed.missing) });
  }
  for (const [name, id] of Object.entries({
    requestId: submission.requestId,
    resendOf: submission.resendOf,
  })) {
    if (id !== undefined && (id.length === 0 || id.length > LONGEST_ID)) {
      throw new InputError(`${name} must have 1 to ${LONGEST_ID} characters. Nothing was sent.`);
    }
  }
  const { caller, requestId = null, resendOf = null, reason } = submission;
  const content = digestOf([caller.subject, device.id, parsed.desired]);
  const keys: Keys = {
    content,
    call: digestOf([content, requestId, resendOf]),
    request: requestId === null ? null : digestOf([caller.subject, requestId]),
  };
  const request: CommandRequest = {
    device: device.id,
    deviceName: device.name,
    desired: parsed.desired,
    units: Object.fromEntries(
      Object.keys(parsed.desired).map((field) => [field, device.fields[field]?.unit ?? null]),
    ),
    reason: reason === undefined || reason === '' ? null : plain(reason, LONGEST_REASON),
    caller,
    requestId,
    resendOf,
    contentKey: keys.call,
    definitionDigest: device.digest,
    deliverWithinMs: device.deliverWithinMs,
  };
  return { device, desired: parsed.desired, coerced: parsed.coerced, request, keys };
}

function missingValues(device: DeviceDefinition, names: readonly string[]): MissingValues | null {
  const fields = names.map((name) => device.fields[name]).filter((field) => field !== undefined);
  return fields.length === 0 ? null : { deviceName: device.name, fields };
}

export function deviceNamed(catalogue: Catalogue, name: string): DeviceDefinition {
  const found = findDevice(catalogue, name);
  if (found.ok) return found.device;
  const meant = found.suggestions.length > 0 ? ` Did you mean ${found.suggestions.join(' or ')}?` : '';
  throw new InputError(
    `There is no device ${quoted(name)}.${meant} list_devices names them all. Nothing was sent.`,
  );
}

export function createSubmitter(client: Client, catalogue: () => Catalogue, known: KnownCommands): Submitter {
  /** Calls that are being taken right now, so that two within milliseconds become one. By requestId, else by the call. */
  const inFlight = new Map<string, { readonly call: string; readonly taking: Promise<Submitted> }>();

  return {
    async submit(submission) {
      const accepted = accept(catalogue(), submission);
      const { call, request } = accepted.keys;
      const key = request ?? call;
      const twin = inFlight.get(key);
      if (twin?.call === call) {
        const { commandId, kind } = await twin.taking;
        return kind === 'repeatRefused'
          ? { kind, commandId }
          : { kind: 'joined', commandId, coerced: accepted.coerced };
      }
      // The same requestId with other content: whatever became of the first one decides about this one.
      if (twin !== undefined) await twin.taking.catch(() => undefined);
      const taking = take(client, known, accepted).finally(() => {
        if (inFlight.get(key)?.taking === taking) inFlight.delete(key);
      });
      inFlight.set(key, { call, taking });
      return await taking;
    },
  };
}

async function take(client: Client, known: KnownCommands, accepted: Accepted): Promise<Submitted> {
  const { keys, coerced, request } = accepted;
  if (keys.request !== null) {
    const same = await known.byRequest(keys.request);
    if (same !== undefined) return joinByRequest(same, accepted);
  }
  const earlier = await known.byContent(keys.content);
  const open = earlier.find((command) => command.status === 'running' && isSameCall(command, request));
  if (open !== undefined) return { kind: 'joined', commandId: open.commandId, coerced };
  if (request.resendOf !== null && !earlier.some((command) => command.commandId === request.resendOf)) {
    throw new InputError(
      `resendOf ${quoted(request.resendOf)} is none of your commands with this device and these values. Pass the commandId of the command that is to be sent again. Nothing was sent.`,
    );
  }
  // Only the newest counts: a later command with the same content that ended safely lifts the guard, and a resend that
  // ended unsafely itself is not repeated by the words that asked for it.
  const [newest] = earlier;
  if (newest !== undefined && isRecentAndUnsafe(newest) && newest.commandId !== request.resendOf)
    return { kind: 'repeatRefused', commandId: newest.commandId };
  const commandId = await start(client, accepted);
  known.remember(keys, commandId);
  return { kind: 'started', commandId, coerced };
}

function joinByRequest(same: CommandSnapshot, { request, coerced }: Accepted): Submitted {
  const { view } = same;
  const equal = view.device === request.device && digestOf(view.desired) === digestOf(request.desired);
  if (equal) return { kind: 'joined', commandId: same.commandId, coerced };
  throw new InputError(
    `requestId ${quoted(request.requestId)} was used for another command (${same.commandId}, device ${view.device}). Use a new requestId for new content. Nothing was sent.`,
  );
}

/** Different requestIds are never joined; without one, the content alone counts. */
function isSameCall({ view }: CommandSnapshot, request: CommandRequest): boolean {
  return request.requestId === null && view.requestId === null && request.resendOf === view.resendOf;
}

function isRecentAndUnsafe({ view, closedAt, status }: CommandSnapshot): boolean {
  if (closedAt === null || Date.now() - closedAt > REPEAT_GUARD_MS) return false;
  return status === 'failed' || view.result?.safeToSendAgain === false;
}

async function start(client: Client, { request, keys }: Accepted): Promise<string> {
  // 128 random bits: an id that can't be guessed, and that says nothing of what it names.
  const workflowId = randomBytes(16).toString('hex');
  await demand(() =>
    client.workflow
      .start(WORKFLOW_TYPE.deviceCommand, {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [request],
        memo: { [MEMO_KEY]: acceptedView(request, Date.now()) },
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTE.device, value: request.device },
          { key: SEARCH_ATTRIBUTE.owner, value: request.caller.subject },
          { key: SEARCH_ATTRIBUTE.content, value: keys.content },
          { key: SEARCH_ATTRIBUTE.outcome, value: 'open' },
          ...(keys.request === null ? [] : [{ key: SEARCH_ATTRIBUTE.request, value: keys.request }]),
        ],
        staticSummary: plain(`${request.deviceName}: ${desiredInWords(request)}`, 200),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      })
      .catch((error: unknown) => {
        // The first attempt of a retried call got through: this very id, made a moment ago, is ours.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }),
  );
  return workflowId;
}
