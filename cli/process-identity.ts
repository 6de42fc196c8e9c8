/** Tells one process from a later one that happens to get the same number. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A text that stays the same for the life of process `pid` and differs for any other process that ever had this
 * number; undefined when no such process runs.
 */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  return process.platform === 'linux' ? startTicks(pid) : startDate(pid);
}

/** Linux: field 22 of /proc/PID/stat, counted in ticks since boot. The command's name before it may hold spaces and brackets. */
function startTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; only its parent hasn't looked yet.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startDate(pid: number): string | undefined {
  // Without `ps` (Windows) a living process of that number has to do.
  if (process.platform === 'win32') return 'alive';
  try {
    const environment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: environment,
    }).trim();
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process: alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
