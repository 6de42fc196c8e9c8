import type { ExitCode } from '../failure.ts';

/** What one check of `doctor` found. */
export interface Finding {
  /** What was looked at. */
  readonly check: string;
  /** `problem`: something asked of Readback will fail. `warning`: it works, but not as it should. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** What to do about it; null where nothing is wrong. */
  readonly mend: string | null;
  /** Exit code of `doctor` if this is a problem. */
  readonly exitCode: ExitCode;
}

export const fine = (check: string, found: string): Finding => ({
  check,
  status: 'ok',
  found,
  mend: null,
  exitCode: 0,
});

export const warning = (check: string, found: string, mend: string): Finding => ({
  check,
  status: 'warning',
  found,
  mend,
  exitCode: 0,
});

export const problem = (check: string, exitCode: ExitCode, found: string, mend: string): Finding => ({
  check,
  status: 'problem',
  found,
  mend,
  exitCode,
});
