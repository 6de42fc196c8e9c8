/**
 * What somebody reads before they decide: rendered from the catalogue, strangers' texts made harmless. The same for
 * console, API and command line.
 */
import type { ApprovalBy, Catalogue, DeviceDefinition } from '../catalogue/definition.ts';
import type { CommandView } from '../command.ts';
import { parseDesired } from '../desired.ts';
import { REPEAT_RISKS, type RepeatRisk, repeatRisk, unverifiableFields } from '../repeating.ts';
import { formatValue, plain } from '../text.ts';
import type { Desired } from '../values.ts';

export interface ApprovalBrief {
  readonly commandId: string;
  readonly device: string;
  readonly deviceName: string;
  readonly area: string | null;
  /** Each with its unit, as people read it. */
  readonly changes: readonly { readonly field: string; readonly before: string; readonly desired: string }[];
  /** Who has to decide. */
  readonly by: ApprovalBy;
  /** The matching rule's own reason. */
  readonly ruleReason: string | null;
  /** As reported by the client. */
  readonly requester: {
    readonly subject: string;
    readonly client: string | null;
    readonly transport: string;
    readonly unattended: boolean;
  };
  /** Why the agent says that it asks: a claim, not a fact. */
  readonly agentsReason: string | null;
  readonly repeating: RepeatRisk;
  /** Asked fields that nobody can read back. */
  readonly unverifiable: readonly string[];
  /** Why a yes would send nothing any more; null: it would. */
  readonly voidBecause: string | null;
  /** Epoch ms. */
  readonly askedAt: number;
  readonly expiresAt: number;
}

const LONGEST_NAME = 64;
/** Whole, or two people would look like one. */
const LONGEST_SUBJECT = 300;
/** Longer than any text that a field takes. */
export const LONGEST_VALUE = 1000;
const LONGEST_REASON = 200;

/** null: nothing waits for a decision here. */
export function approvalBrief(
  { devices }: Catalogue,
  { commandId, view }: { readonly commandId: string; readonly view: CommandView },
): ApprovalBrief | null {
  const { approval, caller } = view;
  if (approval === null) return null;
  const device = Object.hasOwn(devices, view.device) ? devices[view.device] : undefined;
  return {
    commandId,
    device: plain(view.device, LONGEST_NAME),
    deviceName: plain(view.deviceName, LONGEST_NAME),
    area: device?.area == null ? null : plain(device.area, LONGEST_NAME),
    changes: Object.entries(view.desired).map(([field, value]) => {
      const unit = view.units[field] ?? null;
      return {
        field: plain(field, LONGEST_NAME),
        // Whole: an approval covers every character of it.
        before: formatValue(approval.before[field] ?? null, unit, LONGEST_VALUE),
        desired: formatValue(value, unit, LONGEST_VALUE),
      };
    }),
    by: approval.by,
    ruleReason: approval.reason === null ? null : plain(approval.reason, LONGEST_REASON),
    requester: {
      subject: plain(caller.subject, LONGEST_SUBJECT),
      client: caller.client === null ? null : plain(caller.client, LONGEST_NAME),
      transport: caller.transport,
      unattended: caller.unattended,
    },
    agentsReason: view.reason === null ? null : plain(view.reason, LONGEST_REASON),
    repeating: repeatRisk(device, view.desired),
    unverifiable: unverifiableFields(device, view.desired),
    voidBecause: voidBecause(device, view.desired),
    askedAt: approval.askedAt,
    expiresAt: approval.expiresAt,
  };
}

/**
 * Its owner may decide it, or somebody has decided it, or its time was over: not what waits for an operator, and not what
 * never asked anybody.
 */
export function asksItsOwner({ approval, decidedBy, result }: CommandView): boolean {
  if (approval !== null) return approval.by === 'requester';
  return decidedBy !== null || result?.outcome === 'expired';
}

/** An approval is given for a definition: without it, or where it takes no more what is asked, there is nothing to send. */
function voidBecause(device: DeviceDefinition | undefined, desired: Desired): string | null {
  if (device === undefined) return 'its device is no longer in the catalogue';
  const parsed = parseDesired(device, desired);
  if (parsed.ok) return null;
  return plain(`the definition of its device has changed: ${parsed.problems.join(' ')}`, LONGEST_REASON);
}

/** Riskiest first; what is as risky, by deadline. */
export function byRisk(a: ApprovalBrief, b: ApprovalBrief): number {
  const rank = ({ repeating, unverifiable, by }: ApprovalBrief): number =>
    REPEAT_RISKS.indexOf(repeating) * 4 + (unverifiable.length > 0 ? 0 : 2) + (by === 'operator' ? 0 : 1);
  return rank(a) - rank(b) || byDeadline(a, b);
}

/** The first to expire first. */
export const byDeadline = (a: ApprovalBrief, b: ApprovalBrief): number => a.expiresAt - b.expiresAt;
