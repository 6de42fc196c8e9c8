import type { DeviceDefinition } from './definition.ts';
import type { ReportIn } from './problem-log.ts';

/** An alias must mean one device. Equal names are only a warning: callers then have to use the ids. */
export function checkNames(
  devices: readonly DeviceDefinition[],
  file: (id: string) => string,
  report: ReportIn,
): readonly string[] {
  const warnings: string[] = [];
  const taken = new Map<string, { readonly id: string; readonly as: 'id' | 'name' | 'alias' }>();
  for (const { id } of devices) taken.set(id.toLowerCase(), { id, as: 'id' });
  for (const { id, name } of devices) {
    const other = taken.get(name.toLowerCase());
    if (other !== undefined && other.id !== id)
      warnings.push(
        `${file(id)}: devices.${id}.name: ${JSON.stringify(name)} is also the ${other.as} of ${other.id}; callers have to use the ids.`,
      );
    else taken.set(name.toLowerCase(), other ?? { id, as: 'name' });
  }
  for (const { id, aliases } of devices) {
    for (const alias of aliases) {
      const other = taken.get(alias.toLowerCase());
      if (other !== undefined && other.id !== id)
        report(
          file(id),
          ['devices', id, 'aliases'],
          `${JSON.stringify(alias)} is also the ${other.as} of ${other.id}: an alias must mean one device`,
        );
      else taken.set(alias.toLowerCase(), other ?? { id, as: 'alias' });
    }
  }
  return warnings;
}
