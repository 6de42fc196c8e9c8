// Keeps a program that knows nothing of `readback up` from outliving it: the program gets no chance to notice that
// the one who started it was killed, so this small process, whose channel to `up` closes then, ends it.
// Plain JavaScript: it must be there within milliseconds. What to run comes as the first message
// `{ program, args, env }`, and not in the arguments, so that whoever looks the program up by its command line finds it alone.
import { spawn } from 'node:child_process';

const KILL_AFTER_MS = 8_000;
/** A server that can't have its port says so within a second and ends. */
const SERVING_AFTER_MS = 5_000;

// Nobody reads any more once `up` is gone; what has to be done then is done all the same.
process.stdout.on('error', () => {});

process.once('message', ({ program, args, env }) => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  child.once('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exit(1);
  });
  const tell = (message) => process.connected && process.send(message);
  child.once('spawn', () => tell({ pid: child.pid }));
  // The address alone proves nothing: somebody else's server may answer there. Its own banner comes once it listens.
  const serving = setTimeout(() => tell({ serving: true }), SERVING_AFTER_MS);
  child.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text);
    if (!/^(Temporal )?Server:/m.test(text)) return;
    clearTimeout(serving);
    tell({ serving: true });
  });
  child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

  const end = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  };
  process.once('disconnect', end);
  process.once('SIGTERM', end);
  process.on('SIGINT', () => {});
});
