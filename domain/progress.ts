/** What is said of a device that is still being read back. No ages: it changes only when the device does. */
import type { FieldDefinition } from './catalogue/definition.ts';
import { shownValue } from './device-scale.ts';
import type { SampleRun } from './outcome.ts';
import { isPause } from './series.ts';
import type { SettleQuestion, SettleStory } from './settle.ts';
import { formatValue } from './text.ts';

/** What each field shows, what was asked, and what is waited for. */
export function progress(question: SettleQuestion, story: SettleStory, now: number): string {
  const readings = Object.values(question.fields).map((field) => {
    const last = story.tracks[field.name]?.runs.at(-1);
    const asked = formatValue(question.desired[field.name] ?? null, field.unit);
    const shows =
      last === undefined ? 'not read yet' : showing(last, field, story.lastSample?.moving === true);
    return `${field.name} ${shows}, asked ${asked}`;
  });
  const why = waitingFor(question, story, now);
  return [...readings, ...(why === null ? [] : [why])].join('; ');
}

/** Why it takes its time, as far as that is known: `moving; waiting for the device to wake`. */
export function waitingFor(
  { policy, sentAt }: SettleQuestion,
  { lastSample }: SettleStory,
  now: number,
): string | null {
  const isPaused = lastSample !== null && isPause(lastSample);
  const isLagging = now < sentAt + policy.lagMs && policy.lagReason !== null;
  const reasons = [
    ...(isPaused ? [lastSample.trouble] : []),
    ...(lastSample?.moving === true ? ['moving'] : []),
    ...(isLagging ? [policy.lagReason] : []),
  ];
  return reasons.length === 0 ? null : reasons.join('; ');
}

/** On its way a device may show a word that is none of its values ("opening"): not a fault worth telling. */
function showing(run: SampleRun, field: FieldDefinition, moving: boolean): string {
  if (run.value !== null) return `reads ${formatValue(shownValue(field, run.value), field.unit)}`;
  return moving ? 'is on its way' : `can't be read (${run.note ?? 'no reading'})`;
}
