/** Scaffolding: commands without Temporal, until the harness brings the real ones. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CommandSnapshot,
  type Commands,
  EngineUnreachable,
  InputError,
  type Viewer,
} from '../../commands/commands.ts';
import { acceptedView } from '../../domain/command.ts';
import type { Outcome } from '../../domain/outcome.ts';

const DEVICES: Record<
  string,
  { takesMs: number; outcome: Outcome; approval?: 'requester' | 'operator'; repeatable?: boolean }
> = {
  'bedroom-ac': { takesMs: 300, outcome: 'verified' },
  'slow-ac': { takesMs: 4000, outcome: 'verified' },
  'dead-lamp': { takesMs: 300, outcome: 'unchanged' },
  'stuck-gate': { takesMs: 300, outcome: 'unknown', repeatable: false },
  'night-lamp': { takesMs: 300, outcome: 'verified', approval: 'requester' },
  'front-door': { takesMs: 300, outcome: 'verified', approval: 'operator' },
};

export function inMemoryCommands(more = 0): Commands & { reachable: boolean } {
  const all = new Map<string, CommandSnapshot>();
  const update = (id: string, change: (snapshot: CommandSnapshot) => CommandSnapshot) => {
    const snapshot = all.get(id);
    if (snapshot?.status === 'running') all.set(id, { ...change(snapshot), lastUpdatedAt: Date.now() });
  };
  const finish = (
    id: string,
    outcome: Outcome,
    sent: number,
    status: 'completed' | 'cancelled' = 'completed',
  ) =>
    update(id, (snapshot) => {
      const at = Date.now();
      const ok = outcome === 'verified';
      const fields = Object.fromEntries(
        Object.entries(snapshot.view.desired).map(([field, value]) => [
          field,
          {
            requested: value,
            previous: 24,
            observed: { value: ok ? value : 24, unit: '°C', at },
            verdict: ok ? ('verified' as const) : ('unchanged' as const),
            adjusted: false,
            detail: '',
          },
        ]),
      );
      return {
        ...snapshot,
        status,
        closedAt: at,
        ttlMs: 604_800_000,
        view: {
          ...snapshot.view,
          phase: 'ended',
          approval: null,
          sent: {
            count: sent,
            certain: true,
            reply: sent === 0 ? null : { status: 200, body: '{"ok":true}' },
          },
          result: {
            outcome,
            fields,
            detail: ok ? 'As asked.' : 'Not as asked.',
            repeatable: true,
            safeToSendAgain: ok || outcome === 'unchanged',
            adjusted: false,
            samples: [],
            endedAt: at,
            joined: null,
          },
        },
      };
    });
  const work = (id: string, device: string) => {
    const { takesMs, outcome } = DEVICES[device] as { takesMs: number; outcome: Outcome };
    setTimeout(
      () =>
        update(id, (s) => ({
          ...s,
          view: { ...s.view, phase: 'settling', note: 'sent, waiting', sent: { ...s.view.sent, count: 1 } },
        })),
      50,
    ).unref();
    setTimeout(() => finish(id, outcome, 1), takesMs).unref();
  };
  const owned = (id: string, viewer: Viewer) => {
    if (!self.reachable)
      throw new EngineUnreachable('Temporal at 127.0.0.1:1 cannot be reached; the command is not lost.');
    const snapshot = all.get(id);
    return viewer.kind === 'operator' || snapshot?.view.owner === viewer.subject ? snapshot : undefined;
  };

  const self: Commands & { reachable: boolean } = {
    reachable: true,
    async submit(submission) {
      const behaviour = DEVICES[submission.device];
      if (!self.reachable)
        throw new EngineUnreachable('Temporal at 127.0.0.1:1 cannot be reached; nothing was started.');
      if (behaviour === undefined)
        throw new InputError(`There is no device "${submission.device}". Nothing was sent.`);
      const desired = submission.desired as Record<string, unknown>;
      if (typeof desired !== 'object' || Object.keys(desired).length === 0)
        throw new InputError('desired is empty. Nothing was sent.');
      const coerced = typeof desired['temperature'] === 'string' ? ['temperature "26" as 26'] : [];
      if (Number.isNaN(Number(desired['temperature'])))
        throw new InputError('temperature "warm" is not a number. Nothing was sent.');
      const old = [...all.values()]
        .reverse()
        .find((s) => s.view.device === submission.device && s.status === 'completed');
      if (behaviour.repeatable === false && old && submission.resendOf !== old.commandId)
        return { kind: 'repeatRefused', commandId: old.commandId };
      const open = [...all.values()].find(
        (s) =>
          s.view.device === submission.device &&
          s.status === 'running' &&
          s.view.desired['temperature'] === Number(desired['temperature']),
      );
      if (open && submission.requestId === undefined)
        return { kind: 'joined', commandId: open.commandId, coerced };
      const commandId = randomUUID();
      const now = Date.now();
      const view = acceptedView(
        {
          device: submission.device,
          deviceName: submission.device,
          units: { temperature: '°C' },
          desired: { temperature: Number(desired['temperature']) },
          reason: submission.reason ?? null,
          caller: submission.caller,
          requestId: null,
          resendOf: null,
          contentKey: '',
          definitionDigest: '',
          requesterCanAnswer: submission.requesterCanAnswer,
        },
        now,
      );
      const approval = behaviour.approval && {
        by: behaviour.approval,
        reason: null,
        askedAt: now,
        expiresAt: now + 60_000,
        digest: 'd',
        key: 'approve-1',
        before: { temperature: 24 },
      };
      all.set(commandId, {
        commandId,
        status: 'running',
        createdAt: now,
        closedAt: null,
        lastUpdatedAt: now,
        cancelRequested: false,
        live: null,
        ttlMs: null,
        failure: null,
        overdue: false,
        view: approval ? { ...view, phase: 'waiting_for_approval', approval } : view,
      });
      if (!approval) work(commandId, submission.device);
      return { kind: 'started', commandId, coerced };
    },
    get: async (id, viewer) => owned(id, viewer),
    async wait(id, viewer, { timeoutMs, signal, until }) {
      const end = Date.now() + timeoutMs;
      for (;;) {
        const snapshot = owned(id, viewer);
        if (
          !snapshot ||
          (until ?? ((s) => s.status !== 'running'))(snapshot) ||
          Date.now() >= end ||
          signal?.aborted
        )
          return snapshot;
        await sleep(10);
      }
    },
    async cancel(id, viewer) {
      const snapshot = owned(id, viewer);
      if (snapshot) finish(id, 'cancelled', snapshot.view.sent.count, 'cancelled');
      return snapshot !== undefined;
    },
    list: async (_viewer, { limit }) => [...all.values()].reverse().slice(0, limit),
    async answer(id, viewer, given) {
      const snapshot = owned(id, viewer);
      const answer = Object.values(given)[0] as
        | { action?: string; content?: { approve?: unknown } }
        | undefined;
      if (!snapshot) return false;
      if (answer?.action === 'accept' && answer.content?.approve === true) {
        update(id, (s) => ({
          ...s,
          view: {
            ...s.view,
            approval: null,
            phase: 'waiting_for_turn',
            decidedBy: {
              decision: 'approved',
              by: 'local',
              via: 'form',
              authenticated: true,
              at: Date.now(),
              latencyMs: 1,
              comment: null,
            },
          },
        }));
        work(id, snapshot.view.device);
      } else if (answer?.action === 'decline') finish(id, 'declined', 0);
      return true;
    },
    async readState(device) {
      if (DEVICES[device] === undefined) throw new InputError(`There is no device "${device}".`);
      return {
        device,
        deviceName: device,
        at: Date.now(),
        deviceAt: null,
        fields: { temperature: { kind: 'value', value: 24, unit: '°C' } },
        moving: false,
        faults: {},
        trouble: null,
        raw: null,
      };
    },
    async dryRun(submission) {
      return {
        device: submission.device,
        desired: submission.desired as { temperature: number },
        coerced: [],
        objection: null,
        requests: [
          { method: 'PUT', url: 'http://127.0.0.1:4100/devices/bedroom-ac', body: { temperature: 26 } },
        ],
        state: await self.readState(submission.device),
        approval: null,
        already: false,
      };
    },
    devices: (query) =>
      [...Object.keys(DEVICES), ...Array.from({ length: more }, (_, index) => `device-${index}`)]
        .filter((device) => query === undefined || device.includes(query))
        .map((device) => ({
          device,
          name: device,
          area: null,
          aliases: [],
          tags: [],
          hint: null,
          fields: { temperature: '16–30 °C, step 0.5' },
        })),
  };
  return self;
}
