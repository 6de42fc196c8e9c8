/** Collects what is wrong, each mistake once. */
import { formatPath, type Path, type Problem } from './problems.ts';

export type ReportIn = (file: string, path: Path, message: string) => void;

/**
 * What is wrong with the shape of the file hides what would only follow from it: at the same place, around it or inside it.
 * `shapeDone` says that from now on mistakes are about the meaning.
 */
export function collectProblems(): {
  readonly problems: () => readonly Problem[];
  readonly report: ReportIn;
  readonly shapeDone: () => void;
} {
  const found = new Map<string, Problem>();
  const misshapen = new Set<string>();
  const around = new Set<string>();
  let shape = true;
  const report: ReportIn = (file, path, message) => {
    const places = path.map((_part, index) => `${file}\n${formatPath(path.slice(0, index + 1))}`);
    const here = places.at(-1) ?? file;
    if (shape) {
      misshapen.add(here);
      // A whole device or section is no single place.
      for (const place of places.slice(2, -1)) around.add(place);
    } else if (around.has(here) || places.some((place) => misshapen.has(place))) return;
    found.set(`${here}\n${message}`, { file, path: formatPath(path), message });
  };
  return {
    problems: () => [...found.values()],
    report,
    shapeDone: () => {
      shape = false;
    },
  };
}
