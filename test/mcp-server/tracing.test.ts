import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ReceivedRequest } from '../../simulator/ledger.ts';
import { type House, openHouse, type Serving, setting } from './serving.ts';
import { pathOf, type RecordedSpans, recordSpans } from './spans.ts';
import { stdioHost } from './stdio-host.ts';
import { ask, callTool, isEnded, startTask, TASKS, TASKS_AND_FORMS, taskRequest, untilTask } from './wire.ts';

const OPERATOR = { kind: 'operator' } as const;
const CALLERS_SPAN = '00f067aa0ba902b7';

const newTrace = (): string => randomBytes(16).toString('hex');
const traceparentOf = (trace: string): string => `00-${trace}-${CALLERS_SPAN}-01`;

describe('the trace of a request', { timeout: 120_000 }, () => {
  let house: House;
  let serving: Serving;
  let spans: RecordedSpans;
  before(async () => {
    spans = recordSpans();
    house = await openHouse();
    serving = await house.serve({ taskGraceMs: 0 });
  });
  after(() => house?.close());

  const inTrace = (trace: string): readonly ReadableSpan[] =>
    spans.all().filter((span) => span.spanContext().traceId === trace);
  /** Every path from a trace's root, each once. */
  const pathsIn = (trace: string): readonly string[] =>
    [...new Set(inTrace(trace).map((span) => pathOf(span, inTrace(trace))))].sort();
  const idOf = (span: ReadableSpan): string => span.spanContext().spanId;
  const received = async (device: string, trace: string): Promise<readonly ReceivedRequest[]> => {
    const all = (await house.harness.admin('GET', `/devices/${device}`)).received;
    return all.filter(({ headers }) => headers['traceparent']?.includes(trace));
  };
  /** A task that has ended, of a call in a trace of its own. */
  const tracedCommand = async (
    args: Readonly<Record<string, unknown>>,
    meta: Readonly<Record<string, unknown>> = {},
  ) => {
    const trace = newTrace();
    const { taskId } = await startTask(serving.url, args, {
      capabilities: TASKS,
      meta: { traceparent: traceparentOf(trace), ...meta },
    });
    await untilTask(serving.url, taskId, isEnded);
    return { trace, taskId: String(taskId) };
  };

  it('goes from the call through its workflow and activities to each request to the device, one hop a span', async () => {
    const { trace, taskId } = await tracedCommand(setting('bedroom-ac'), { tracestate: 'vendor=1' });
    assert.deepEqual(pathsIn(trace), [
      '… > tools/call set_device_state',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:send',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:send > PUT',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:settle',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:settle > GET',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:takeTurn',
      '… > tools/call set_device_state > StartWorkflow:deviceCommand > RunActivity:takeTurn > GET',
    ]);
    const all = inTrace(trace);
    assert.equal(new Set(all.map(idOf)).size, all.length, 'each hop has an id of its own');
    const call = all.find(({ name }) => name.startsWith('tools/call'));
    assert.equal(call?.parentSpanContext?.spanId, CALLERS_SPAN);
    for (const span of all.filter(({ name }) => name.startsWith('RunActivity:')))
      assert.equal(span.attributes['temporal.workflow.id'], taskId);

    const requests = await received('bedroom-ac', trace);
    assert.deepEqual(
      requests.map(({ headers }) => String(headers['traceparent'])).sort(),
      all
        .filter(({ name }) => ['GET', 'PUT'].includes(name))
        .map((span) => `00-${trace}-${idOf(span)}-01`)
        .sort(),
      'the device is told of exactly the span that asks it',
    );
    assert.ok(requests.every(({ headers }) => headers['tracestate'] === 'vendor=1'));
    const snapshot = await house.harness.commands.get(taskId, OPERATOR);
    assert.equal(snapshot?.view.caller.traceId, trace, 'kept with the command, for the audit');
  });

  it('reaches a device that is only read, too', async () => {
    const trace = newTrace();
    const meta = { traceparent: traceparentOf(trace) };
    await callTool(serving.url, 'get_device_state', { device: 'bedroom-ac' }, { meta });
    assert.deepEqual(pathsIn(trace), [
      '… > tools/call get_device_state',
      '… > tools/call get_device_state > StartWorkflow:readDevice',
      '… > tools/call get_device_state > StartWorkflow:readDevice > RunActivity:readState',
      '… > tools/call get_device_state > StartWorkflow:readDevice > RunActivity:readState > GET',
    ]);
  });

  it('takes baggage as far as the activities, and never to the device', async () => {
    const baggage = 'tenant=acme,user=jo%C3%AB';
    const { trace, taskId } = await tracedCommand(setting('bedroom-ac'), { baggage });
    const { events } = await house.harness.temporal.client.workflow.getHandle(taskId).fetchHistory();
    const headers = (events ?? []).flatMap((event) => {
      const payload = event.activityTaskScheduledEventAttributes?.header?.fields?.['_tracer-data']?.data;
      return payload == null ? [] : [JSON.parse(Buffer.from(payload).toString()).baggage];
    });
    assert.ok(headers.length >= 3);
    assert.ok(headers.every((one) => one === baggage));
    const requests = await received('bedroom-ac', trace);
    assert.ok(requests.length > 0);
    assert.ok(requests.every(({ headers: told }) => told['baggage'] === undefined));
  });

  it('is no part of what makes two calls the same: the second joins, and its span says which trace it joined', async () => {
    const args = setting('slow-ac');
    const [first, second] = [newTrace(), newTrace()];
    const call = (trace: string) =>
      startTask(serving.url, args, { capabilities: TASKS, meta: { traceparent: traceparentOf(trace) } });
    const { taskId } = await call(first);
    assert.equal((await call(second)).taskId, taskId);
    const start = await spans.find(
      (span) => span.name.startsWith('StartWorkflow:') && span.spanContext().traceId === first,
    );
    const joined = await spans.find((span) => span.spanContext().traceId === second);
    assert.deepEqual(pathsIn(second), ['… > tools/call set_device_state']);
    assert.deepEqual(
      joined.links.map(({ context }) => context.spanId),
      [idOf(start)],
    );

    const cancel = newTrace();
    await taskRequest(
      serving.url,
      'cancel',
      taskId,
      {},
      {
        capabilities: TASKS,
        meta: { traceparent: traceparentOf(cancel) },
      },
    );
    const cancelling = await spans.find((span) => span.name === 'tasks/cancel');
    assert.deepEqual(pathsIn(cancel), ['… > tasks/cancel']);
    assert.deepEqual(
      cancelling.links.map(({ context }) => [context.traceId, context.spanId]),
      [[first, idOf(start)]],
    );
  });

  it('of a call that joined another server’s command in the lane is linked to that one’s', async () => {
    const other = await house.serve({ taskGraceMs: 0 }, await house.harness.otherCommands());
    const callBoth = async (args: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
      const tasks = await Promise.all(
        [serving, other].map(({ url }) =>
          startTask(url, args, { capabilities: TASKS, meta: { traceparent: traceparentOf(newTrace()) } }),
        ),
      );
      return tasks.map(({ taskId }) => String(taskId));
    };
    let taskIds = await callBoth(setting('bedroom-ac'));
    // One of them was slow enough to hear of the other's.
    for (let again = 0; again < 5 && taskIds[0] === taskIds[1]; again += 1)
      taskIds = await callBoth(setting('bedroom-ac'));
    const ended = await Promise.all(taskIds.map((taskId) => house.harness.ended(taskId)));
    const second = ended.find(({ view }) => view.result?.joined != null);
    assert.ok(second, 'neither server knew of the other’s');
    const first = ended.find(({ commandId }) => commandId === second.view.result?.joined);
    const turn = inTrace(String(second.view.caller.traceId)).find(
      ({ name, links }) => name === 'RunActivity:takeTurn' && links.length > 0,
    );
    assert.deepEqual(
      turn?.links.map(({ context }) => context.traceId),
      [first?.view.caller.traceId],
    );
  });

  it('of an answer goes on into the check of its seal, and is linked to the command that it is about', async () => {
    const [command, answer] = [newTrace(), newTrace()];
    const { taskId } = await startTask(serving.url, setting('night-lamp'), {
      capabilities: TASKS_AND_FORMS,
      meta: { traceparent: traceparentOf(command) },
    });
    const { inputRequests } = await untilTask(
      serving.url,
      taskId,
      ({ status }) => status === 'input_required',
      { capabilities: TASKS_AND_FORMS },
    );
    const [key] = Object.keys(inputRequests);
    const inputResponses = { [key as string]: { action: 'accept', content: { approve: true } } };
    await taskRequest(
      serving.url,
      'update',
      taskId,
      { inputResponses },
      {
        capabilities: TASKS_AND_FORMS,
        meta: { traceparent: traceparentOf(answer) },
      },
    );
    await untilTask(serving.url, taskId, isEnded);
    assert.deepEqual(pathsIn(answer), [
      '… > tasks/update',
      '… > tasks/update > StartWorkflowUpdate:answer',
      '… > tasks/update > StartWorkflowUpdate:answer > RunActivity:checkSeal',
    ]);
    const update = inTrace(answer).find(({ name }) => name === 'tasks/update');
    assert.deepEqual(
      update?.links.map(({ context }) => context.traceId),
      [command],
    );
    assert.ok(
      pathsIn(command).some((path) => path.endsWith('StartWorkflow:deviceCommand > RunActivity:send > PUT')),
      'what was approved is sent in the trace of the command',
    );
  });

  it('begins with the call where the client gave none, or none that is what the standard has it be', async () => {
    const TRACE = newTrace();
    for (const odd of [
      undefined,
      7,
      '',
      TRACE,
      `00-${TRACE.toUpperCase()}-${CALLERS_SPAN}-01`,
      `ff-${TRACE}-${CALLERS_SPAN}-01`,
      `00-${'0'.repeat(32)}-${CALLERS_SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE}-${CALLERS_SPAN}-01\u202e`,
      `00-${TRACE}-${CALLERS_SPAN}-01\r\nx-evil: 1`,
      { toString: 'x' },
      [traceparentOf(TRACE)],
    ]) {
      const { taskId } = await startTask(serving.url, setting('slow-ac'), {
        capabilities: TASKS,
        meta: { traceparent: odd },
      });
      const snapshot = await house.harness.commands.get(String(taskId), OPERATOR);
      await house.harness.commands.cancel(String(taskId), OPERATOR);
      assert.equal(snapshot?.view.caller.traceId, undefined, JSON.stringify(odd));
      const start = await spans.find((span) => span.attributes['temporal.workflow.id'] === taskId);
      assert.equal(
        pathOf(start, spans.all()),
        'tools/call set_device_state > StartWorkflow:deviceCommand',
        JSON.stringify(odd),
      );
    }
    assert.deepEqual(inTrace(TRACE), []);
  });

  it("brings nothing into the device's request but what the standard allows", async () => {
    const trace = newTrace();
    for (const odd of [
      'a=1\r\nx-evil: 1',
      'a=1\u0000',
      'a=\u202e',
      'x'.repeat(9000),
      'no pair',
      { a: 1 },
      ['a=1\r\nx-evil: 1'],
    ]) {
      const meta = {
        traceparent: traceparentOf(trace),
        tracestate: odd,
        baggage: odd,
        'x-evil': '1',
        cookie: 'a',
      };
      await ask(
        serving.url,
        'tools/call',
        { name: 'get_device_state', arguments: { device: 'dead-lamp' } },
        { meta },
      );
    }
    const requests = await received('dead-lamp', trace);
    assert.equal(requests.length, 7);
    for (const { headers } of requests)
      assert.deepEqual(Object.keys(headers).sort(), ['accept', 'connection', 'host', 'traceparent']);
  });

  it('goes on over stdio, and past a server where nobody records spans, as it came', async () => {
    const host = await stdioHost(house);
    const client = await host.connect({});
    try {
      const trace = newTrace();
      const result: any = await client.callTool({
        name: 'set_device_state',
        arguments: setting('bedroom-ac'),
        _meta: { traceparent: traceparentOf(trace) },
      });
      assert.equal(result.structuredContent.outcome, 'verified');
      const turn = inTrace(trace).find(({ name }) => name === 'RunActivity:takeTurn');
      assert.equal(turn?.parentSpanContext?.spanId, CALLERS_SPAN);
      assert.ok((await received('bedroom-ac', trace)).length > 0);
    } finally {
      await client.close();
      await host.close();
    }
  });
});
