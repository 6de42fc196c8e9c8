// Keeps a program that knows nothing of `readback up` from outliving it: the program gets no chance to notice that
// the one who started it was killed, so this small process, whose channel to `up` closes then, ends it.
// Plain JavaScript: it must be there within milliseconds. What to run comes as the first message
// `{ program, args, env }`, and not in the arguments, so that whoever looks the program up by its command line finds it alone.
import { spawn } from 'node:child_process';

const KILL_AFTER_MS = 8_000;

process.once('message', ({ program, args, env }) => {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  child.once('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`);
    process.exit(1);
  });
  child.once('spawn', () => process.connected && process.send({ pid: child.pid }));
  child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

  const end = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  };
  process.once('disconnect', end);
  process.once('SIGTERM', end);
  process.on('SIGINT', () => {});
});
