/** The tools that the suite's scenarios of the Tasks extension call. Each slow one starts a workflow. */
import {
  type CallToolResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Requester } from '../../mcp-server/requester.ts';
import { createTaskResult, type TaskSnapshot } from '../../mcp-server/task-snapshot.ts';
import { requireTasks } from '../../mcp-server/tasks.ts';
import type { ServedTool } from '../../mcp-server/tool-calls.ts';
import { filledIn, form, NAME } from './asking-tools.ts';
import { text, tool } from './fixture-tool.ts';
import type { JobTasks } from './job-tasks.ts';

type Arguments = Readonly<Record<string, unknown>>;

export function jobTools(
  jobs: JobTasks,
  requesterOf: (ctx: ServerContext) => Requester,
): readonly ServedTool[] {
  const start = async (workflowType: string, args: Arguments, requester: Requester) =>
    await jobs.start(workflowType, { owner: requester.principal, ...args });
  /** Only as a task: a client without the extension is refused before anything starts. */
  const alwaysTask =
    (workflowType: string): ServedTool['call'] =>
    async (args, ctx) => {
      const requester = requesterOf(ctx);
      requireTasks(requester);
      return createTaskResult(await start(workflowType, args as Arguments, requester), requester);
    };
  return [
    tool('greet', 'Greets at once', async (args) => text(`Hello, ${String((args as Arguments)['name'])}!`)),
    tool('slow_compute', 'Computes for some seconds', async (args, ctx) => {
      const requester = requesterOf(ctx);
      const { seconds = 0, label = 'slow_compute' } = args as Arguments;
      const task = await start('slowCompute', { seconds: Number(seconds), label: String(label) }, requester);
      if (requester.tasks && Number(seconds) > 0) return createTaskResult(task, requester);
      return await endOf(jobs, task, requester, ctx.mcpReq.signal);
    }),
    tool('failing_job', 'Fails after a second', alwaysTask('failingJob')),
    tool('protocol_error_job', 'Breaks off', alwaysTask('protocolErrorJob')),
    tool('confirm_delete', 'Asks before it deletes', alwaysTask('confirmDelete')),
    tool('multi_input', 'Asks two things at once', alwaysTask('multiInput')),
    tool('test_tool_with_task', 'Asks for a name, then greets as a task', async (_args, ctx) => {
      const requester = requesterOf(ctx);
      requireTasks(requester);
      const name = filledIn(ctx.mcpReq.inputResponses, 'user_name', 'name');
      if (name === undefined)
        return inputRequired({ inputRequests: { user_name: form('What is your name?', NAME) } });
      return createTaskResult(await start('greetLater', { name }, requester), requester);
    }),
  ];
}

/** Waits for the end of a job on behalf of a client that can't be given a task. */
async function endOf(
  jobs: JobTasks,
  { taskId }: TaskSnapshot,
  { principal }: Requester,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let last: TaskSnapshot | undefined;
  for await (const task of jobs.changes(taskId, principal, signal)) last = task;
  if (last?.status === 'completed') return last.result;
  throw new ProtocolError(ProtocolErrorCode.InternalError, last?.statusMessage ?? 'The job was not found.');
}
