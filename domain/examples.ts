/** Examples in profiles: what a reply means and what a command becomes, written down so that both can be checked without the device. */
import type { DeviceDefinition } from './catalogue/definition.ts';
import { digestOf } from './catalogue/digest.ts';
import type { ReadExample, SendExample } from './catalogue/example-schema.ts';
import { isMap } from './catalogue/merge.ts';
import { isEqual } from './comparison.ts';
import { parseDesired } from './desired.ts';
import type { DeviceReply } from './exchange.ts';
import { interpretRead } from './interpretation.ts';
import { quoted } from './quoted.ts';
import { renderSend } from './rendering.ts';
import { planSteps } from './steps.ts';
import { formatValue, plain } from './text.ts';
import type { Json, Reading, Value } from './values.ts';

/** One example of a profile, with a device of that profile to try it on. */
export interface ProfileExample {
  readonly profile: string;
  /** Its place in the profile's list. */
  readonly index: number;
  readonly device: DeviceDefinition;
  readonly example: ReadExample | SendExample;
}

/** What comes out otherwise than the example says, in words; empty: it holds. */
export async function differences({ device, example }: ProfileExample): Promise<readonly string[]> {
  return 'reply' in example ? await readDifferences(device, example) : await sendDifferences(device, example);
}

async function readDifferences(device: DeviceDefinition, example: ReadExample): Promise<string[]> {
  const { read } = device;
  if (read === null) return ['the profile declares no read'];
  const names = Object.keys(read.requests);
  const bodies = read.single ? { [names[0] ?? '']: example.reply } : example.reply;
  if (!isMap(bodies)) return [`reply: give a map with the reply to each of ${names.join(', ')}`];
  const replies: Record<string, DeviceReply> = {};
  for (const [name, body] of Object.entries(bodies))
    replies[name] = { status: example.status ?? 200, headers: example.headers ?? {}, body: body as Json };
  const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
  const { sample } = await interpretRead(device, replies, context, 0);
  const fields = Object.entries(example.fields).flatMap(([name, value]) =>
    fieldDifference(device, name, value, sample.fields[name]),
  );
  const raised = Object.keys(sample.faults).filter((name) => sample.faults[name] !== 'clear');
  const expected = [example.faults ?? []].flat();
  return [
    ...fields,
    ...(example.moving === undefined || example.moving === sample.moving
      ? []
      : [`moving: is ${sample.moving}, not ${example.moving}`]),
    ...(example.faults === undefined || sameNames(raised, expected)
      ? []
      : [`faults: ${listOf(raised)}, not ${listOf(expected)}`]),
  ];
}

function fieldDifference(
  device: DeviceDefinition,
  name: string,
  expected: Value | null,
  reading: Reading | undefined,
): string[] {
  const field = device.fields[name];
  if (field === undefined) return [`fields.${name}: the profile has no such field`];
  const shown =
    reading?.kind === 'value'
      ? formatValue(reading.value, field.unit)
      : `no value (${reading?.why ?? 'never read'})`;
  if (expected === null) return reading?.kind === 'value' ? [`fields.${name}: reads ${shown}, not null`] : [];
  if (reading?.kind === 'value' && isEqual(field, expected, reading)) return [];
  return [`fields.${name}: reads ${shown}, not ${formatValue(expected, field.unit)}`];
}

async function sendDifferences(device: DeviceDefinition, example: SendExample): Promise<string[]> {
  const parsed = parseDesired(device, example.desired);
  if (!parsed.ok) return parsed.problems.map((problem) => `desired: ${problem}`);
  const current = Object.fromEntries(
    Object.entries(example.current ?? {}).map(([name, value]) => [name, { kind: 'value', value } as const]),
  );
  const plan = planSteps(device, parsed.desired, current);
  if (!plan.ok) return [`nothing would be sent: ${plan.why}`];
  const expected = [example.send].flat();
  const found: string[] = [];
  for (const [position, { step, fields }] of plan.steps.entries()) {
    const rendered = await renderSend(device, step, fields, parsed.desired, current);
    if (!rendered.ok) return [`nothing would be sent: ${rendered.why}`];
    const wanted = expected[position];
    const line = `${rendered.request.method} ${rendered.request.path}`;
    if (wanted === undefined) found.push(`sends also ${line} ${textOf(rendered.body)}`);
    else found.push(...requestDifferences(line, rendered.body, wanted));
  }
  const missing = expected
    .slice(plan.steps.length)
    .map((one) => (typeof one === 'string' ? one : one.request));
  return [...found, ...missing.map((line) => `does not send ${line}`)];
}

function requestDifferences(
  line: string,
  body: Json,
  wanted: string | { readonly request: string; readonly body?: unknown },
): string[] {
  const { request, body: wantedBody } =
    typeof wanted === 'string' ? { request: wanted, body: undefined } : wanted;
  return [
    ...(line === request ? [] : [`sends ${plain(line, 200)}, not ${plain(request, 200)}`]),
    ...(wantedBody === undefined || digestOf(body) === digestOf(wantedBody)
      ? []
      : [`${plain(request, 200)}: its body is ${textOf(body)}, not ${textOf(wantedBody as Json)}`]),
  ];
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

const listOf = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

const textOf = (body: Json): string =>
  body === null ? 'empty' : typeof body === 'object' ? plain(JSON.stringify(body), 200) : quoted(body);
