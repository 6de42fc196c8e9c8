/**
 * `npm run check`: runs every `check:*` script of package.json at once and reports each whole,
 * so that one run shows all there is to mend.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import packageJson from '../package.json' with { type: 'json' };

interface Report {
  readonly script: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly output: string;
}

async function runScript(script: string): Promise<Report> {
  const startedAt = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  const seconds = (performance.now() - startedAt) / 1000;
  return { script, passed: child.exitCode === 0, seconds, output: `${output}${errors}`.trim() };
}

const scripts = Object.keys(packageJson.scripts).filter((script) => script.startsWith('check:'));
const reports = await Promise.all(scripts.map(runScript));
for (const { script, passed, seconds, output } of reports) {
  if (!passed) console.log(`\n${output}\n`);
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${script} (${seconds.toFixed(1)} s)`);
}
process.exitCode = reports.every((report) => report.passed) ? 0 : 1;
