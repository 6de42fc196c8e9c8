/** What a device's replies mean: whether a send was taken, and what a read says about the fields. */
import {
  type DeviceDefinition,
  type Expression,
  type FieldDefinition,
  REPLY_CLASSES,
  type ReadDefinition,
  type ReplyClass,
  type ReplyRules,
} from './catalogue/definition.ts';
import { expressionReferences } from './catalogue/expressions.ts';
import { confirmationAsReading, confirmations } from './confirmation.ts';
import type { DeviceReply, FaultState, RawRead, ReadContext, ReplyEvidence, Sample } from './exchange.ts';
import { outcomeOf, type Replies, type Scope, scopeOf } from './expression-scope.ts';
import { unmetCondition, unmetInWords } from './steps.ts';
import { plain } from './text.ts';
import type { Json, Reading } from './values.ts';
import { fromWire } from './wire.ts';

const MAX_EVIDENCE = 300;
/** No stamp is longer; whatever is goes into every sample. */
const MAX_STAMP = 200;

/** What is kept of a reply: at most `longest` harmless characters of its body. */
export function evidenceOf(reply: DeviceReply, longest = MAX_EVIDENCE): ReplyEvidence {
  const body =
    reply.body === null ? '' : typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
  return { status: reply.status, body: plain(body.slice(0, longest * 10), longest) };
}

/**
 * How the API took a send. The declared expressions are tried in the order of `REPLY_CLASSES`; 429 and 401 keep their place
 * among them. Where none holds, the status decides: 2xx accepted, 4xx refused, anything else maybe.
 */
export async function classifyReply(rules: ReplyRules, reply: DeviceReply): Promise<ReplyClass> {
  for (const replyClass of REPLY_CLASSES) {
    const rule = rules[replyClass];
    if (rule !== undefined && (await holdsOf(rule, reply))) return replyClass;
    if (replyClass === 'limited' && reply.status === 429) return 'limited';
    if (replyClass === 'signedOut' && reply.status === 401) return 'signedOut';
  }
  if (isSuccess(reply)) return rules.accepted === undefined ? 'accepted' : 'maybe';
  return reply.status >= 400 && reply.status < 500 ? 'refused' : 'maybe';
}

/** Only a real `true` is evidence. Nothing can be said about a body that isn't there. */
async function holdsOf(rule: Expression, reply: DeviceReply): Promise<boolean> {
  const { status, headers, body } = reply;
  if (body === null && expressionReferences(rule).roots.includes('body')) return false;
  return (await outcomeOf(rule, { input: { status, headers, body }, bindings: {} })).value === true;
}

/**
 * One read of a device, from the replies to its requests. A reply that is missing, not 2xx or refused, a `pick` without exactly one hit,
 * a device that isn't `available` or `fresh`, or a stamp older than the command: `trouble`, and every field is unreadable.
 * A field with `confirm` alone reads as what was desired once that holds; an action reads `false` until then.
 * `raw` is what `$before` shows to later reads. `isOfDevice`: false where the replies say nothing of this device, whatever they hold.
 */
export async function interpretRead(
  device: DeviceDefinition,
  replies: Replies,
  context: ReadContext,
  at: number,
): Promise<{ sample: Sample; raw: RawRead; isOfDevice: boolean }> {
  const read = device.read;
  const nothing = (trouble: string, raw: RawRead) => ({
    sample: troubledSample(device, at, trouble),
    raw,
    isOfDevice: false,
  });
  if (read === null) return nothing('the catalogue declares no read for it', {});
  const whole = rawOf(read, replies);
  const missed = await troubleWithReplies(device, read, replies);
  if (missed !== null) return nothing(missed, whole);
  const picked = await pick(device, read, whole, replies, context);
  if ('trouble' in picked) return nothing(picked.trouble, whole);
  const scope = scopeOf(device, read, picked.raw, replies, context);

  const deviceAt = read.at === null ? null : stampOf((await outcomeOf(read.at, scope)).value);
  const trouble = (await troubleWithState(read, scope)) ?? staleness(context, deviceAt);
  if (trouble !== null)
    return { sample: troubledSample(device, at, trouble, deviceAt), raw: picked.raw, isOfDevice: true };

  const confirmed = await confirmations(device, context, scope);
  const fields = await readFields(device, context, scope, confirmed, isStructured(picked.raw));
  const moving = read.moving !== null && (await outcomeOf(read.moving, scope)).value === true;
  const faults = await readFaults(device, scope);
  const sample = { at, deviceAt, fields, moving, faults, confirmed, trouble: null, retryAfterMs: null };
  return { sample, raw: picked.raw, isOfDevice: true };
}

/** The sample of a read that failed: what is known about the device now is nothing. */
export function troubledSample(
  device: DeviceDefinition,
  at: number,
  trouble: string,
  deviceAt: string | null = null,
): Sample {
  const readable = Object.values(device.fields).filter(
    (field) => field.read !== null || field.confirm !== null,
  );
  const fields = Object.fromEntries(
    readable.map(({ name }) => [name, { kind: 'unreadable', why: trouble } as const]),
  );
  const faults = Object.fromEntries(Object.keys(device.faults).map((name) => [name, 'unknown'] as const));
  return { at, deviceAt, fields, moving: false, faults, confirmed: {}, trouble, retryAfterMs: null };
}

function rawOf(read: ReadDefinition, replies: Replies): RawRead {
  const names = Object.keys(read.requests).filter((name) => Object.hasOwn(replies, name));
  return Object.fromEntries(
    names.map((name) => {
      const { status, body } = replies[name] ?? { status: 0, body: null };
      return [name, { status, body, whole: body }];
    }),
  );
}

/** Classes that void a reading. `maybe` and `accepted` are about sends; on a read the status alone stands for them. */
const VOIDING: readonly ReplyClass[] = ['asleep', 'limited', 'signedOut', 'refused'];

async function troubleWithReplies(
  device: DeviceDefinition,
  read: ReadDefinition,
  replies: Replies,
): Promise<string | null> {
  for (const [name, request] of Object.entries(read.requests)) {
    const reply = Object.hasOwn(replies, name) ? replies[name] : undefined;
    const what = read.single ? 'the read' : `the read of ${name}`;
    if (!reply) return `${what} brought no reply`;
    if (!isSuccess(reply))
      return `${what} (${request.method} ${request.path}) was answered with HTTP ${reply.status}`;
    const replyClass = await classifyReply(device.reply, reply);
    if (VOIDING.includes(replyClass))
      return `${what} was answered with an error (${replyClass}): ${evidenceOf(reply).body}`;
  }
  return null;
}

async function pick(
  device: DeviceDefinition,
  read: ReadDefinition,
  raw: RawRead,
  replies: Replies,
  context: ReadContext,
): Promise<{ readonly raw: RawRead } | { readonly trouble: string }> {
  const [name] = Object.keys(raw);
  const reply = name === undefined ? undefined : raw[name];
  if (read.pick === null || !read.single || name === undefined || reply === undefined) return { raw };
  const { value, problem } = await outcomeOf(read.pick, scopeOf(device, read, raw, replies, context));
  const hits: readonly Json[] =
    value === undefined ? [] : Array.isArray(value) ? (value as readonly Json[]) : [value];
  if (problem !== null) return { trouble: problem };
  if (hits.length === 0)
    return { trouble: `the reply doesn't list this device (nothing matches ${read.pick})` };
  if (hits.length > 1) return { trouble: `the reply lists this device ${hits.length} times (${read.pick})` };
  return { raw: { [name]: { ...reply, body: hits[0] ?? null } } };
}

async function troubleWithState(read: ReadDefinition, scope: Scope): Promise<string | null> {
  const declared = { available: 'the device is not available', fresh: "the device's report is not fresh" };
  for (const name of ['available', 'fresh'] as const) {
    const rule = read[name];
    if (rule !== null && (await outcomeOf(rule, scope)).value !== true)
      return `${declared[name]} (${rule} does not hold)`;
  }
  return null;
}

/** Only after a send is there a baseline to be older than; before it, any report is the present one. */
function staleness(context: ReadContext, deviceAt: string | null): string | null {
  const isStale = context.baselineDeviceAt !== null && deviceAt === context.baselineDeviceAt;
  return isStale
    ? `the device's last report (${plain(deviceAt ?? '', 64)}) is from before the command`
    : null;
}

async function readFields(
  device: DeviceDefinition,
  context: ReadContext,
  scope: Scope,
  confirmed: Readonly<Record<string, boolean>>,
  missingCounts: boolean,
): Promise<Record<string, Reading>> {
  const fields: Record<string, Reading> = {};
  for (const field of Object.values(device.fields)) {
    if (field.read !== null) fields[field.name] = await readField(field, field.read, scope, missingCounts);
    else if (field.confirm !== null)
      fields[field.name] = confirmationAsReading(field, context, confirmed[field.name]);
  }
  for (const field of Object.values(device.fields)) {
    const unmet = Object.hasOwn(fields, field.name) ? unmetCondition(field.appliesWhen, {}, fields) : null;
    if (unmet !== null) fields[field.name] = { kind: 'notApplicable', why: unmetInWords(unmet) };
  }
  return fields;
}

async function readField(
  field: FieldDefinition,
  source: Expression,
  scope: Scope,
  missingCounts: boolean,
): Promise<Reading> {
  const { value, problem } = await outcomeOf(source, scope);
  if (problem !== null) return { kind: 'unreadable', why: problem };
  if (value !== undefined) return fromWire(field, value);
  if (field.missing !== null && missingCounts) return { kind: 'value', value: field.missing };
  return { kind: 'unreadable', why: `the reply lacks ${source}` };
}

/** An empty reply or a web page lacks every field, and means none of them by that. */
function isStructured(raw: RawRead): boolean {
  return Object.values(raw).every(({ body }) => body !== null && typeof body === 'object');
}

async function readFaults(device: DeviceDefinition, scope: Scope): Promise<Record<string, FaultState>> {
  const faults: Record<string, FaultState> = {};
  for (const [name, rule] of Object.entries(device.faults)) {
    const { value } = await outcomeOf(rule, scope);
    faults[name] = value === true ? 'raised' : value === false ? 'clear' : 'unknown';
  }
  return faults;
}

function stampOf(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_STAMP);
}

function isSuccess(reply: DeviceReply): boolean {
  return reply.status >= 200 && reply.status < 300;
}
