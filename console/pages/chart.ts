/** Desired against what was read, over time: an SVG made here, so that it needs no script and nothing from elsewhere. */
import { html } from 'hono/html';
import type { CommandView } from '../../domain/command.ts';
import type { SampleRun } from '../../domain/outcome.ts';
import { formatDuration, formatValue, plain } from '../../domain/text.ts';
import type { Value } from '../../domain/values.ts';
import type { Html } from './html.ts';

interface Charted {
  readonly field: string;
  readonly view: Pick<CommandView, 'desired' | 'units'>;
  /** Of this field, oldest first; at least one. */
  readonly runs: readonly SampleRun[];
  /** Epoch ms of each send. */
  readonly sends: readonly number[];
}

const WIDTH = 720;
const HEIGHT = 180;
const LEFT = 84;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 24;
/** A value that isn't a number has a line of its own; beyond so many they could not be told apart. */
const MOST_LEVELS = 8;

export function chart({ field, view, runs, sends }: Charted): Html {
  const desired = view.desired[field] ?? null;
  const unit = view.units[field] ?? null;
  const from = Math.min(...sends, ...runs.map(({ firstAt }) => firstAt));
  const to = Math.max(...sends, ...runs.map(({ lastAt }) => lastAt), from + 1000);
  const x = (at: number): number => round(LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
  const values = [desired, ...runs.map(({ value }) => value)].filter((value) => value !== null);
  const scale = values.every((value) => typeof value === 'number') ? numbers(values) : levels(values);
  const name = plain(field, 64);
  const last = runs.findLast(({ value }) => value !== null)?.value ?? null;
  const told = `${name}: desired ${formatValue(desired, unit)}, last read ${formatValue(last, unit)}, over ${formatDuration(to - from)}`;
  return html`<figure class="chart"><figcaption>${name} <span class="faint">dashed: desired ${formatValue(desired, unit)}; line: read back</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${told}">
${scale.ticks.map(
  (tick) =>
    html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${scale.y(tick)}" y2="${scale.y(tick)}"/><text class="tick" x="${LEFT - 8}" y="${scale.y(tick) + 4}" text-anchor="end">${shortened(formatValue(tick, unit))}</text>`,
)}
${sends.map(
  (at) =>
    html`<line class="send" x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><text class="tick" x="${x(at) + 4}" y="${TOP + 8}">sent</text>`,
)}
${desired === null ? '' : html`<line class="desired" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${scale.y(desired)}" y2="${scale.y(desired)}"/>`}
<path class="read" d="${readPath(runs, x, scale.y)}"/>
${runs.map((run) => marks(run, x, scale.y))}
<text class="tick" x="${LEFT}" y="${HEIGHT - 6}">0 s</text><text class="tick" x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end">${formatDuration(to - from)}</text>
</svg></figure>`;
}

interface Scale {
  y(value: Value): number;
  readonly ticks: readonly Value[];
}

function numbers(values: readonly number[]): Scale {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const span = most - least || 1;
  const y = (value: Value): number =>
    round(HEIGHT - BOTTOM - 8 - ((Number(value) - least) / span) * (HEIGHT - TOP - BOTTOM - 24));
  return { y, ticks: least === most ? [least] : [least, most] };
}

function levels(values: readonly Value[]): Scale {
  const distinct = [...new Set(values)].slice(0, MOST_LEVELS);
  const step = (HEIGHT - TOP - BOTTOM - 24) / Math.max(1, distinct.length - 1);
  const y = (value: Value): number =>
    round(HEIGHT - BOTTOM - 8 - Math.max(0, distinct.indexOf(value)) * step);
  return { y, ticks: distinct };
}

/** A line within each run and to the next one; it breaks where nothing could be read. */
function readPath(
  runs: readonly SampleRun[],
  x: (at: number) => number,
  y: (value: Value) => number,
): string {
  let path = '';
  let broken = true;
  for (const { value, firstAt, lastAt } of runs) {
    if (value !== null) path += `${broken ? 'M' : 'L'}${x(firstAt)} ${y(value)}L${x(lastAt)} ${y(value)}`;
    broken = value === null;
  }
  return path;
}

/** Dots where a value was read first and last; a band at the foot where it could not be read. */
function marks(
  { value, firstAt, lastAt }: SampleRun,
  x: (at: number) => number,
  y: (value: Value) => number,
): Html {
  if (value === null)
    return html`<rect class="unreadable" x="${x(firstAt)}" y="${HEIGHT - BOTTOM - 4}" width="${Math.max(4, x(lastAt) - x(firstAt))}" height="4"><title>unreadable</title></rect>`;
  return html`<circle class="dot" cx="${x(firstAt)}" cy="${y(value)}" r="3"/><circle class="dot" cx="${x(lastAt)}" cy="${y(value)}" r="3"/>`;
}

const round = (number: number): number => Math.round(number * 10) / 10;
const shortened = (text: string): string => (text.length > 11 ? `${text.slice(0, 10)}…` : text);
