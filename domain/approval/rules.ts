/**
 * Which approval a command needs. Every matching rule counts, the strictest wins, and the doors fail closed: what is
 * absent or unreadable counts as a match, what throws means an operator.
 */
import type { ApprovalBy, ApprovalRule, Catalogue, DeviceDefinition } from '../catalogue/definition.ts';
import { evaluate, expressionReferences } from '../catalogue/expressions.ts';
import type { Caller } from '../command.ts';
import { convert } from '../units.ts';
import type { Desired, Reading, Value } from '../values.ts';

export interface RuleContext {
  readonly device: DeviceDefinition;
  readonly desired: Desired;
  readonly caller: Caller;
  /** Present values where a reading was made; an absent one counts as a match where a rule asks for it. */
  readonly before: Readonly<Record<string, Reading>>;
  /** How many commands are asked for together. */
  readonly batchSize: number;
  /** Epoch ms, for `between`. */
  readonly now: number;
}

export interface RequiredApproval {
  readonly by: ApprovalBy;
  readonly reason: string | null;
  /** Shortest of the strictest rules. */
  readonly expiresMs: number;
  /** The rules that matched, whole: part of what an approval is bound to. */
  readonly rules: readonly ApprovalRule[];
}

interface Match {
  readonly rule: ApprovalRule;
  readonly by: ApprovalBy;
}

/** null: no rule matches, no approval is needed. Never throws. */
export async function requiredApproval(
  catalogue: Catalogue,
  context: RuleContext,
): Promise<RequiredApproval | null> {
  const matches: Match[] = [];
  for (const rule of catalogue.approvals) {
    if (!concerns(rule, context) || !isInTime(rule, context.now)) continue;
    const by = await whenHolds(rule, context);
    if (by !== null) matches.push({ rule, by });
  }
  if (matches.length === 0) return null;
  const by = matches.some((match) => match.by === 'operator') ? 'operator' : 'requester';
  const strictest = matches.filter((match) => match.by === by).map((match) => match.rule);
  return {
    by,
    reason: strictest.find((rule) => rule.reason !== null)?.reason ?? null,
    expiresMs: Math.min(...strictest.map((rule) => rule.expiresMs)),
    rules: matches.map((match) => match.rule),
  };
}

/** Does any rule for this device look at present values, so that they have to be read first? */
export function needsReading(catalogue: Catalogue, device: DeviceDefinition): boolean {
  return catalogue.approvals.some(
    (rule) =>
      selectsDevice(rule, device) &&
      (rule.for.changesBy !== null ||
        (rule.when !== null &&
          expressionReferences(rule.when).variables.some(({ name }) => name === 'before'))),
  );
}

function selectsDevice({ for: selector }: ApprovalRule, device: DeviceDefinition): boolean {
  return (
    (selector.device === null || selector.device === device.id) &&
    (selector.tag === null || device.tags.includes(selector.tag)) &&
    (selector.area === null || selector.area === device.area)
  );
}

/** A rule concerns a command when at least one asked field fits everything that the rule says about fields. */
function concerns(rule: ApprovalRule, context: RuleContext): boolean {
  if (!selectsDevice(rule, context.device)) return false;
  return Object.entries(context.desired).some(([field, value]) => fieldMatches(rule, context, field, value));
}

function fieldMatches(
  { for: selector }: ApprovalRule,
  context: RuleContext,
  name: string,
  value: Value,
): boolean {
  if (selector.field !== null && selector.field !== name) return false;
  if (selector.becomes !== null && !selector.becomes.includes(value)) return false;
  if (selector.unless?.includes(value) === true) return false;
  const numeric = selector.above !== null || selector.below !== null || selector.changesBy !== null;
  if (!numeric) return true;
  // A threshold says nothing about an enum; but a rule that names the field means it, so it fails closed.
  if (typeof value !== 'number') return selector.field !== null;
  const unit = context.device.fields[name]?.unit ?? null;
  const asRule = convert(value, unit, selector.unit);
  if (selector.above !== null && !(asRule > selector.above)) return false;
  if (selector.below !== null && !(asRule < selector.below)) return false;
  if (selector.changesBy === null) return true;
  const before = context.before[name];
  if (before?.kind !== 'value' || typeof before.value !== 'number') return true;
  return Math.abs(asRule - convert(before.value, unit, selector.unit)) >= selector.changesBy;
}

/** `23:00-06:00` wraps midnight; the end is not part of it. */
function isInTime(rule: ApprovalRule, now: number): boolean {
  if (rule.between === null) return true;
  const { from, to, timezone } = rule.between;
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(now);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

/** Who has to approve by this rule, or null where its `when` says that it doesn't apply. */
async function whenHolds(rule: ApprovalRule, context: RuleContext): Promise<ApprovalBy | null> {
  if (rule.when === null) return rule.by;
  const { device, desired, caller, batchSize } = context;
  const before = Object.fromEntries(
    Object.entries(context.before).flatMap(([field, reading]) =>
      reading.kind === 'value' ? [[field, reading.value]] : [],
    ),
  );
  try {
    const result = await evaluate(rule.when, {
      input: {},
      bindings: {
        desired,
        before,
        device: { id: device.id, area: device.area, tags: device.tags },
        requester: {
          subject: caller.subject,
          client: caller.client,
          transport: caller.transport,
          unattended: caller.unattended,
        },
        batch: { size: batchSize },
      },
    });
    return result.kind === 'value' && result.value === false ? null : rule.by;
  } catch {
    // A rule that can't be evaluated must not open the door: the strictest reading of it.
    return 'operator';
  }
}
