import type { SettlePolicy } from './definition.ts';
import { milliseconds } from './durations.ts';
import type { Report } from './problems.ts';
import type { RawSettle } from './shapes.ts';

/** What holds where the catalogue says nothing. */
export const DEFAULT_SETTLE: SettlePolicy = {
  firstMs: 1000,
  everyMs: 2000,
  withinMs: 60_000,
  stableMs: 2000,
  reads: 2,
  lagMs: 0,
  lagReason: null,
  maxSends: 1,
};

/** Only what is written down. */
export function partialSettle(raw: RawSettle): Partial<SettlePolicy> {
  const ms = (value: string | 0 | null | undefined): number | undefined =>
    value === undefined || value === null ? undefined : milliseconds(value);
  const settled = {
    firstMs: ms(raw.first),
    everyMs: ms(raw.every),
    withinMs: ms(raw.within),
    stableMs: ms(raw.stable),
    reads: raw.reads ?? undefined,
    lagMs: ms(raw.lag),
    lagReason: raw.lagReason ?? undefined,
    maxSends: raw.maxSends ?? undefined,
  };
  return Object.fromEntries(Object.entries(settled).filter(([, value]) => value !== undefined));
}

/** Reports what can't work out in time. */
export function checkSettle(policy: SettlePolicy, repeatable: boolean, report: Report): void {
  if (policy.withinMs === 0) report(['settle', 'within'], 'no time at all: give a duration such as 60s');
  if (policy.everyMs === 0) report(['settle', 'every'], 'no pause at all: give a duration such as 2s');
  if (policy.lagMs >= policy.withinMs && policy.withinMs > 0) {
    report(
      ['settle', 'lag'],
      `${policy.lagMs / 1000}s is not below within (${policy.withinMs / 1000}s): the reading could not be trusted before the deadline`,
    );
  }
  if (policy.maxSends > 1 && !repeatable) {
    report(['settle', 'maxSends'], `${policy.maxSends} sends need a send with repeatable: true`);
  }
}
