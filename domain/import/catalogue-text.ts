/**
 * The text of a catalogue with entries added and taken out. Everything else stays as it is, byte for byte: comments, order,
 * spacing and quotes are somebody's own. Only what is written in one line (`devices: { … }`, or a file in JSON) is spread out first.
 */
import {
  Document,
  isNode,
  isPair,
  isSeq,
  isMap as isYamlMap,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { RawMap } from '../catalogue/merge.ts';

type Section = 'connections' | 'devices' | 'approvals';

export interface Additions {
  readonly connections: Readonly<Record<string, RawMap>>;
  readonly devices: readonly {
    readonly id: string;
    readonly entry: RawMap;
    readonly comment: string | null;
  }[];
  readonly approvals: readonly RawMap[];
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const NEW_FILE = `# What Readback can command. Written by \`readback devices import\`; change whatever you like: what is here already stays as it
# is when you import again. docs/catalogue.md explains every key.
version: 1
`;

/** `text` is a catalogue that loads, or empty. `removed` are ids of devices of this very file. */
export function editedCatalogue(text: string, additions: Additions, removed: readonly string[]): string {
  const whole =
    text.trim() === '' ? NEW_FILE : spreadOut(text.endsWith('\n') ? text : `${text}\n`, additions);
  const { contents } = parseDocument(whole, { version: '1.2' });
  const root = isYamlMap(contents) ? contents : null;
  const edits = [
    ...removals(whole, root, removed),
    ...(['connections', 'devices', 'approvals'] as const).flatMap((section) => {
      const block = blockOf(section, additions);
      return block === null ? [] : [insertion(whole, root, section, block)];
    }),
  ];
  return applied(whole, edits);
}

function applied(text: string, edits: readonly Edit[]): string {
  const eol = endOfLine(text);
  // From the end on, so that the places of those before still hold; at one place the last one goes in first.
  return [...edits]
    .reverse()
    .sort((a, b) => b.from - a.from)
    .reduce(
      (done, { from, to, text: added }) => done.slice(0, from) + added.replaceAll('\n', eol) + done.slice(to),
      text,
    );
}

const endOfLine = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

function spreadOut(text: string, additions: Additions): string {
  const document = parseDocument(text, { version: '1.2' });
  let isSpread = isYamlMap(document.contents) && document.contents.flow === true;
  if (isYamlMap(document.contents)) document.contents.flow = false;
  for (const section of ['connections', 'devices', 'approvals'] as const) {
    const value = document.get(section);
    if (!(isYamlMap(value) || isSeq(value)) || value.flow !== true || blockOf(section, additions) === null)
      continue;
    isSpread = true;
    value.flow = false;
  }
  return isSpread ? document.toString({ lineWidth: 0 }).replace(/\r?\n/g, endOfLine(text)) : text;
}

/** What is added to a section, not indented; null: nothing. */
function blockOf(section: Section, { connections, devices, approvals }: Additions): string | null {
  if (section === 'connections') return Object.keys(connections).length === 0 ? null : rendered(connections);
  if (section === 'approvals') return approvals.length === 0 ? null : rendered(approvals);
  const blocks = devices.map(
    ({ id, entry, comment }) => `${comment === null ? '' : `# ${comment}\n`}${rendered({ [id]: entry })}`,
  );
  return blocks.length === 0 ? null : blocks.join('\n');
}

/** Entries are blocks; what is in them is written in one line each. */
function rendered(content: RawMap | readonly RawMap[]): string {
  const document = new Document(content, { version: '1.2', aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, collection, path) {
      const depth = path.filter((above) => isNode(above)).length;
      const isFields = path.some((above) => isPair(above) && String(above.key) === 'fields');
      collection.flow = depth > (isFields ? 2 : 1) || (depth > 0 && isSeq(document.contents));
    },
  });
  return document.toString({ lineWidth: 0 });
}

function insertion(text: string, root: YAMLMap | null, section: Section, block: string): Edit {
  const pair = root?.items.find(({ key }) => String(key) === section);
  const value = pair?.value;
  if (isYamlMap(value) || isSeq(value)) {
    const last = value.items.at(-1);
    if (last !== undefined) {
      const column = columnOf(text, startOf(value));
      const at = endOfItem(text, last, column);
      const gap = section === 'devices' ? '\n' : '';
      return { from: at, to: at, text: gap + indented(block, column) };
    }
  }
  const content = `${section}:\n${indented(block, 2)}`;
  if (pair === undefined || root === null)
    return { from: text.length, to: text.length, text: `\n${content}` };
  // `devices:` with nothing, or an empty list or map, in it.
  const from = isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
  const end = isNode(value) ? (value.range?.[1] ?? from) : from;
  return { from, to: Math.max(end, text.indexOf(':', from) + 1), text: content.trimEnd() };
}

function removals(text: string, root: YAMLMap | null, removed: readonly string[]): readonly Edit[] {
  const devices = root?.get('devices');
  if (!isYamlMap(devices)) return [];
  const column = columnOf(text, startOf(devices));
  return devices.items.flatMap((pair) => {
    if (!removed.includes(String(pair.key))) return [];
    const line = text.lastIndexOf('\n', (isNode(pair.key) ? (pair.key.range?.[0] ?? 1) : 1) - 1) + 1;
    return [{ from: withCommentAbove(text, line), to: endOfItem(text, pair, column), text: '' }];
  });
}

/** Start of the comment, and of the empty line before it, that belong to what begins at `line`. */
function withCommentAbove(text: string, line: number): number {
  let from = line;
  for (;;) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    const content = text.slice(above, from).trim();
    if (from === 0 || !(content.startsWith('#') || content === '')) return from;
    from = above;
    if (content === '') return from;
  }
}

const startOf = (collection: YAMLMap | YAMLSeq): number => collection.range?.[0] ?? 0;

const columnOf = (text: string, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1);

/** Where the line after an item begins; comments that stand further to the right than items do are still its own. */
function endOfItem(text: string, item: unknown, column: number): number {
  const last = lastOffset(item);
  let end = text[last - 1] === '\n' ? last : nextLine(text, last);
  for (let at = end; at < text.length; ) {
    const next = nextLine(text, at);
    const line = text.slice(at, next);
    if (line.trim().startsWith('#') && line.search(/\S/) > column) end = next;
    else if (line.trim() !== '') break;
    at = next;
  }
  return end;
}

function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Just behind the last character of a node, without the comments after it. */
function lastOffset(node: unknown): number {
  if (isPair(node)) return Math.max(lastOffset(node.key), lastOffset(node.value));
  if ((isYamlMap(node) || isSeq(node)) && node.flow !== true && node.items.length > 0)
    return lastOffset(node.items.at(-1));
  return isNode(node) ? (node.range?.[1] ?? 0) : 0;
}

const indented = (block: string, column: number): string => block.replace(/^(?=.)/gm, ' '.repeat(column));
