/** Fills `{name}` in paths and topics. A value stays inside its segment: it can't add one, leave one or start a query. */

export type Filled =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly why: string };

type Lookup = (name: string) => string | undefined;

/** `template` starts with `/` and may hold a query. Values are percent-encoded; `.` and `..` can't be, so they are refused. */
export function fillPath(template: string, lookup: Lookup): Filled {
  const start = template.indexOf('?');
  const [path, query] = start < 0 ? [template, ''] : [template.slice(0, start), template.slice(start)];
  const filledPath = fill(path, lookup, { isSegment: true });
  if (!filledPath.ok) return filledPath;
  const filledQuery = fill(query, lookup, { isSegment: false });
  if (!filledQuery.ok) return filledQuery;
  const whole = filledPath.path + filledQuery.path;
  if (!/^\/(?![/\\])/.test(whole) || /[#\\\s]/.test(whole))
    return { ok: false, why: `${template} is no path of this device's API` };
  // URL parsers take %2e for a dot as well, so an encoded ".." would still climb.
  if (filledPath.path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    return { ok: false, why: `a value in ${template} would leave its place in the path` };
  }
  return { ok: true, path: whole };
}

/** MQTT topics are not encoded: what has a meaning in them is refused instead. */
export function fillTopic(template: string, lookup: Lookup): Filled {
  let problem: string | undefined;
  const path = template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = lookup(name);
    if (value === undefined || value === '') problem ??= `{${name}} in ${template} has no value`;
    else if (/[+#\0]/.test(value)) problem ??= `{${name}} in ${template} holds a character that topics can't`;
    return value ?? '';
  });
  return problem === undefined ? { ok: true, path } : { ok: false, why: problem };
}

function fill(template: string, lookup: Lookup, { isSegment }: { isSegment: boolean }): Filled {
  let problem: string | undefined;
  const path = template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = lookup(name);
    // An empty segment would name the whole collection instead of one thing in it.
    if (value === undefined || (isSegment && value === ''))
      problem ??= `{${name}} in ${template} has no value`;
    else if (/\p{Cs}/u.test(value)) problem ??= `{${name}} in ${template} is no valid text`;
    else return encodeURIComponent(value);
    return '';
  });
  return problem === undefined ? { ok: true, path } : { ok: false, why: problem };
}
