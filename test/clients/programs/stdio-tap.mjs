// Stands between a client and the MCP server that it starts, and reports every line that passes.
// usage: stdio-tap.mjs FILE: `{ port, command, args, env }`; lines of `{ from, text }` go to that port of loopback.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const { port, command, args, env } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const report = connect(port, '127.0.0.1');
const server = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });

function pass(input, output, from) {
  createInterface({ input }).on('line', (text) => {
    report.write(`${JSON.stringify({ from, text })}\n`);
    output.write(`${text}\n`);
  });
}
pass(process.stdin, server.stdin, 'client');
pass(server.stdout, process.stdout, 'server');
process.stdin.once('end', () => server.stdin.end());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
server.once('close', (code) => report.end(() => process.exit(code ?? 1)));
