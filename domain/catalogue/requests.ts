/** Request templates: `METHOD /path` with placeholders, headers, and a body tree. */
import type { Json } from '../values.ts';
import type { Connection, RequestTemplate } from './definition.ts';
import { isMap } from './merge.ts';
import type { Path, Report } from './problems.ts';
import { checkBody, checkPlaceholders, type Scope } from './scope.ts';
import type { RawRequest } from './shapes.ts';

/** The template, or null where it lacks what it needs; what is wrong is reported below `path`. */
export function resolveRequest(
  raw: Partial<RawRequest>,
  kind: Connection['kind'],
  scope: Scope,
  path: Path,
  report: Report,
): RequestTemplate | null {
  const line = kind === 'mqtt' ? raw.topic : raw.request;
  const [own, other] = kind === 'mqtt' ? (['topic', 'request'] as const) : (['request', 'topic'] as const);
  if (raw[other]) report([...path, other], `not on this kind of connection (${kind}): give ${own}`);
  if (!line) {
    report(
      path,
      `is missing "${own}": give ${kind === 'mqtt' ? 'a topic' : 'a method and a path such as "PUT /heater"'}`,
    );
    return null;
  }
  checkPlaceholders(line, scope, [...path, own], report);
  checkBody(raw.body, scope, [...path, 'body'], report);
  const as = raw.as ?? 'json';
  checkBodyForm(raw.body, as, [...path, 'body'], report);
  for (const [name, value] of Object.entries(raw.headers ?? {}))
    if (value.startsWith('='))
      report([...path, 'headers', name], 'a header is text: no expression can stand in it');
  if (kind === 'mqtt' && raw.headers)
    report([...path, 'headers'], 'messages have none: only requests over HTTP do');
  const [method, target] = kind === 'mqtt' ? ['PUBLISH', ''] : split(line);
  return {
    method,
    path: target,
    headers: raw.headers ?? {},
    body: (raw.body ?? null) as Json,
    as,
    topic: kind === 'mqtt' ? line : null,
  };
}

function split(line: string): readonly [string, string] {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
}

function checkBodyForm(body: unknown, as: RequestTemplate['as'], path: Path, report: Report): void {
  if (body === undefined || body === null || as === 'json') return;
  if (as === 'text' && typeof body === 'object')
    report(path, 'as: text takes one text (or "=" and an expression), not a tree');
  const flat =
    isMap(body) && Object.values(body).every((value) => typeof value !== 'object' || value === null);
  if (as === 'form' && !flat) report(path, 'as: form takes a flat map of names to values');
}
