/**
 * Approval rules that an import adds for what may let somebody in, let water out, or wake the street. They are active: whoever
 * finds them too strict takes them out, and nothing was opened before. Each is about a tag, so that the next device of its kind
 * falls under it too.
 */
import type { ApprovalRule, DeviceDefinition } from '../catalogue/definition.ts';
import type { RawMap } from '../catalogue/merge.ts';

interface Guard {
  readonly by: ApprovalRule['by'];
  readonly reason: string;
  /** When a command has to be approved, by field. */
  readonly when: Readonly<Record<string, RawMap>>;
}

const GUARDS = {
  lock: { by: 'operator', reason: 'Opens a lock.', when: { lock: { unless: 'locked' } } },
  gate: {
    by: 'operator',
    reason: 'Opens a door, a gate or a window.',
    when: { door: { unless: 'closed' }, position: { above: 0 } },
  },
  cover: { by: 'requester', reason: 'Moves a cover.', when: { door: {}, position: {} } },
  valve: {
    by: 'operator',
    reason: 'Opens a valve.',
    when: { valve: { unless: 'closed' }, position: { above: 0 }, power: { unless: 'off' } },
  },
  alarm: { by: 'operator', reason: 'Disarms an alarm.', when: { alarm: { becomes: 'disarmed' } } },
  siren: { by: 'requester', reason: 'Is loud.', when: { power: { becomes: 'on' } } },
} as const satisfies Record<string, Guard>;

/** Each is the tag of its devices as well. */
export type GuardName = keyof typeof GUARDS;

/**
 * The rules that `devices` (new ones, with their guards) need and that no standing rule of the file gives them already. A rule
 * that would match no field is an error of the catalogue: there is one only for what a device has and can be sent.
 */
export function rulesFor(
  devices: readonly { readonly definition: DeviceDefinition; readonly guard: GuardName | null }[],
  standing: readonly ApprovalRule[],
): readonly RawMap[] {
  const needed = new Map<string, RawMap>();
  for (const { definition, guard: name } of devices) {
    if (name === null) continue;
    const guard: Guard = GUARDS[name];
    for (const [field, condition] of Object.entries(guard.when)) {
      const isSent = definition.fields[field]?.readOnly === false;
      if (!isSent || standing.some((rule) => isAbout(rule, definition, field))) continue;
      const rule = { for: { tag: name, field, ...condition }, by: guard.by, reason: guard.reason };
      needed.set(`${name} ${field}`, rule);
    }
  }
  return [...needed.values()];
}

/** The user has thought of this already, whatever came of it. A rule for the night, or for large batches, thinks of that alone. */
function isAbout(rule: ApprovalRule, device: DeviceDefinition, field: string): boolean {
  const { for: about, between, when } = rule;
  const isOfItsKind = about.device !== null || about.tag !== null;
  const isAlways = between === null && when === null && (about.field !== null || takesAnyValue(rule));
  return (
    (isOfItsKind || isAlways) &&
    (about.device === null || about.device === device.id) &&
    (about.tag === null || device.tags.includes(about.tag)) &&
    (about.area === null || about.area === device.area) &&
    (about.field === null || about.field === field)
  );
}

const takesAnyValue = ({ for: { becomes, unless, above, below, changesBy } }: ApprovalRule): boolean =>
  [becomes, unless, above, below, changesBy].every((condition) => condition === null);
