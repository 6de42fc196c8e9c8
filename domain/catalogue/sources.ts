/** The files of a catalogue: read, parsed, checked for their shape, and put side by side. */
import { isMap, type RawMap } from './merge.ts';
import type { ReportIn } from './problem-log.ts';
import { type Mistake, mistakesOf, type Path } from './problems.ts';
import { catalogueFile, type RawApproval, type RawCatalogue, type RawConnection } from './schema.ts';
import { parseYaml } from './yaml-file.ts';

type ReadFile = (path: string) => string | Promise<string>;

/** Something of the file, with the file in which it stands. */
export interface Sourced<Content> {
  readonly file: string;
  readonly content: Content;
}

export interface Sources {
  /** The file itself: settings, defaults and time zone stand here only. */
  readonly main: RawCatalogue;
  readonly connections: ReadonlyMap<string, Sourced<RawConnection>>;
  readonly profiles: ReadonlyMap<string, Sourced<RawMap>>;
  readonly devices: ReadonlyMap<string, Sourced<RawMap>>;
  readonly approvals: readonly (Sourced<RawApproval> & { readonly index: number })[];
}

const MAX_FILES = 100;
/** What an included file may hold. */
const SHARED = ['version', 'include', 'connections', 'profiles', 'devices', 'approvals'];

/** null: the file itself can't be read or is no YAML. Whatever is wrong elsewhere is reported and left out. */
export async function readSources(
  file: string,
  readFile: ReadFile,
  report: ReportIn,
): Promise<Sources | null> {
  const files = await readAll(file, readFile, report);
  const main = files[0];
  if (main === undefined || main.file !== file) return null;
  const collect = <Content>(
    section: 'connections' | 'profiles' | 'devices',
  ): ReadonlyMap<string, Sourced<Content>> => {
    const found = new Map<string, Sourced<Content>>();
    for (const { file: at, content } of files) {
      for (const [name, value] of Object.entries(content[section] ?? {})) {
        const other = found.get(name);
        if (other) report(at, [section, name], `is described in ${other.file} already`);
        else found.set(name, { file: at, content: value as Content });
      }
    }
    return found;
  };
  return {
    main: main.content,
    connections: collect('connections'),
    profiles: collect('profiles'),
    devices: collect('devices'),
    approvals: files.flatMap(({ file: at, content }) =>
      (content.approvals ?? []).map((rule, index) => ({ file: at, content: rule, index })),
    ),
  };
}

async function readAll(
  file: string,
  readFile: ReadFile,
  report: ReportIn,
): Promise<readonly Sourced<RawCatalogue>[]> {
  const files: Sourced<RawCatalogue>[] = [];
  const waiting: {
    readonly path: string;
    readonly from: { readonly file: string; readonly path: Path } | null;
  }[] = [{ path: file, from: null }];
  const seen = new Set([file]);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const content = await readOne(next.path, next.from, readFile, report);
    if (content === null) continue;
    files.push({ file: next.path, content });
    for (const [index, name] of [content.include ?? []].flat().entries()) {
      const path = beside(next.path, name);
      const from = {
        file: next.path,
        path: Array.isArray(content.include) ? ['include', index] : ['include'],
      };
      if (seen.has(path)) report(from.file, from.path, `${name} is included already`);
      else if (seen.size >= MAX_FILES) report(from.file, from.path, `more than ${MAX_FILES} files`);
      else waiting.push({ path, from });
      seen.add(path);
    }
  }
  return files;
}

async function readOne(
  file: string,
  from: { readonly file: string; readonly path: Path } | null,
  readFile: ReadFile,
  report: ReportIn,
): Promise<RawCatalogue | null> {
  let text: string;
  try {
    text = await readFile(file);
  } catch (error) {
    const code =
      typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
    report(from?.file ?? file, from?.path ?? [], `${from === null ? 'the file' : file} can't be read${code}`);
    return null;
  }
  const parsed = parseYaml(text);
  if (!parsed.ok) {
    for (const mistake of parsed.mistakes) report(file, [], mistake);
    return null;
  }
  // An editor that is interrupted, or a full disk, leaves it so: taken as it stands, no device and no approval rule were left.
  if (parsed.value === null) {
    report(file, [], 'there is nothing in the file. Say so with `devices: {}` where that is meant');
    return null;
  }
  const { value } = parsed;
  const checked = catalogueFile.safeParse(value, { reportInput: true });
  if (!isMap(value)) {
    report(file, [], 'a catalogue is a map with the keys connections, devices, …');
    return null;
  }
  if (from !== null) {
    for (const key of Object.keys(value)) {
      if (!SHARED.includes(key))
        report(file, [key], `stands in the main file only; an included file may hold ${SHARED.join(', ')}`);
    }
  }
  if (checked.success) return value;
  const mistakes = mistakesOf(checked.error);
  for (const { path, message } of mistakes) report(file, path, message);
  return without(value, mistakes) as RawCatalogue;
}

/** A copy without what was reported, so that the rest can be checked at the same time. */
function without(value: RawMap, mistakes: readonly Mistake[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const { path, rightKind } of mistakes) if (rightKind !== true) remove(copy, path);
  return copy;
}

function remove(from: unknown, path: Path): void {
  const parent = path.slice(0, -1).reduce(memberOf, from);
  const last = path.at(-1);
  if (!isContainer(parent) || last === undefined) return;
  // A hole in a list would move the positions of what follows: a wrong item takes its list with it.
  if (Array.isArray(parent)) remove(from, path.slice(0, -1));
  else delete parent[last];
}

const memberOf = (part: unknown, key: string | number): unknown =>
  isContainer(part) && Object.hasOwn(part, key) ? part[key] : undefined;

const isContainer = (part: unknown): part is Record<string | number, unknown> =>
  typeof part === 'object' && part !== null;

/** A path written in `file` and meant from its folder. */
export function beside(file: string, path: string): string {
  if (/^([/\\]|[A-Za-z]:[/\\])/.test(path)) return path;
  const folder = file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  return `${folder}${path}`;
}
