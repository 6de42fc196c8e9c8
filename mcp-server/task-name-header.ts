/**
 * `Mcp-Name` of tasks/get, tasks/update and tasks/cancel, where the client leaves it out. It routes a request to the
 * server that holds the task; here any server holds every task, so that nothing is lost without it, and clients in use
 * don't send it. One that says something else than the body is still refused by the SDK.
 */
import { isJsonObject } from './json-object.ts';

const TASK_METHODS: readonly unknown[] = ['tasks/get', 'tasks/update', 'tasks/cancel'];
const NAME = 'mcp-name';

/** The request with the header, and without the body, which has been read. */
export function withTaskName(request: Request, parsedBody: unknown): Request {
  if (!isJsonObject(parsedBody) || !TASK_METHODS.includes(parsedBody['method'])) return request;
  const { params } = parsedBody;
  const taskId = isJsonObject(params) ? params['taskId'] : undefined;
  if (typeof taskId !== 'string' || !/^[\x21-\x7e]{1,1000}$/.test(taskId)) return request;
  if ((request.headers.get(NAME) ?? '') !== '') return request;
  const headers = new Headers(request.headers);
  headers.set(NAME, taskId);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
