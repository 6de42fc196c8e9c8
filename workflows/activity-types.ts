/** What workflows ask of the world, and what it answers: the activities, by type. They are carried out in `activities/`. */
import type { ApprovalBy, SendStep, SettlePolicy, WakePolicy } from '../domain/catalogue/definition.ts';
import type { CommandRequest, CommandView } from '../domain/command.ts';
import type { FaultState, RawRead, SendResult } from '../domain/exchange.ts';
import type { SampleRun } from '../domain/outcome.ts';
import type { Probe } from '../domain/probe.ts';
import type { FieldVerdict, SettleStory } from '../domain/settle.ts';
import type { Json, Reading, Value } from '../domain/values.ts';
import type { Answer } from './messages.ts';

/** What workflows ask of the world. Implemented in `activities/`, one file each. */
export interface Activities {
  takeTurn(input: TurnInput): Promise<Turn>;
  lookAgain(input: CommandInput): Promise<Seen>;
  wake(input: CommandInput): Promise<Woken>;
  send(input: SendInput): Promise<SendResult>;
  settle(input: SettleInput): Promise<Settled>;
  checkSeal(input: {
    readonly commandId: string;
    readonly digest: string;
    readonly answer: Answer;
  }): Promise<boolean>;
  readState(input: Omit<ReadInput, 'withinMs'>): Promise<DeviceState>;
  probe(input: Omit<ReadInput, 'withinMs'>): Promise<Probe>;
  rehearse(input: CommandInput): Promise<Rehearsal>;
  ring(input: RingInput): Promise<void>;
}

/** Activities by which others than the workflows tell what a command is doing: their names in its description and history. */
export const ACTIVITY = { send: 'send', settle: 'settle' } as const satisfies Partial<
  Record<keyof Activities, string>
>;

export interface CommandInput {
  readonly request: CommandRequest;
}

/** A command whose view shows what is asked. */
export interface RingInput {
  readonly commandId: string;
  readonly view: CommandView;
}

/** Why a person has to decide, and what exactly their approval is bound to. */
export interface Requirement {
  readonly by: ApprovalBy;
  readonly reason: string | null;
  readonly expiresMs: number;
  /** One digest a matching rule, over command, definition and rule. An approval covers what it was given for, no more. */
  readonly bindings: readonly string[];
  /** Over all bindings: what a decision is sealed with. */
  readonly digest: string;
}

export interface TurnInput extends CommandInput {
  /** Start of the command, or its approval, epoch ms: the order in which words were given. */
  readonly acceptedAt: number;
  /** Bindings of the approval that was given; empty where none was. */
  readonly approved: readonly string[];
}

export type Turn =
  | { readonly kind: 'ready'; readonly look: Look }
  /** At the gate: a person has to decide first. Not in the lane yet, so nobody waits behind it. */
  | {
      readonly kind: 'needsApproval';
      readonly requirement: Requirement;
      /** What an approver sees as the present values. */
      readonly before: Readonly<Record<string, Value | null>>;
      /** The catalogue has a webhook, which is to tell of it. */
      readonly rings: boolean;
    }
  /** In its turn it needs an approval that was not given: device, definition, rule or hour have changed since. */
  | { readonly kind: 'void' }
  /** It no longer fits the catalogue: why. */
  | { readonly kind: 'misfit'; readonly why: string }
  /** `ahead` and `by`: named only to their own owner. */
  | { readonly kind: 'busy'; readonly ahead: string | null }
  | { readonly kind: 'overtaken'; readonly by: string | null }
  /** The first one has ended; this is what it showed. */
  | { readonly kind: 'duplicate'; readonly of: string; readonly view: CommandView };

/** The device just before a send, and what has to be sent. */
export interface Look {
  readonly at: number;
  readonly readings: Readonly<Record<string, Reading>>;
  readonly deviceAt: string | null;
  readonly trouble: string | null;
  /** Raw baseline, only for devices whose expressions use `$before`. */
  readonly before: RawRead | null;
  /** Each asked field as people should see it; null: not readable. */
  readonly previous: Readonly<Record<string, Value | null>>;
  /** Asked fields that are as desired already. */
  readonly already: readonly string[];
  readonly steps: readonly StepPlan[];
  readonly policy: SettlePolicy;
  /** Longest that one read may take. */
  readonly readWithinMs: number;
  /** Of the definition that this was judged by: nothing else may be sent. */
  readonly definitionDigest: string;
  /** Why nothing may be sent: it doesn't apply, or lies beyond the device's own limits. */
  readonly objection: string | null;
  /** The device said that it sleeps, instead of what it shows. */
  readonly asleep: boolean;
  /** How it may be woken; null: not at all. */
  readonly wake: Pick<WakePolicy, 'atMost' | 'withinMs'> | null;
}

/** What became of asking a sleeping device to wake. */
export interface Woken {
  /** false: nothing reached the device yet; asking again is no second time. */
  readonly asked: boolean;
  /** What it showed once it was awake; null: it did not wake. */
  readonly look: Look | null;
  readonly detail: string;
  readonly retryAfterMs: number | null;
}

/** A look after a refusal: is it so already? */
export interface Seen {
  readonly at: number;
  readonly observed: Readonly<Record<string, Value | null>>;
  readonly already: readonly string[];
}

/** One send step as this command uses it. */
export interface StepPlan extends Pick<SendStep, 'index' | 'kind' | 'repeatable' | 'then'> {
  readonly fields: readonly string[];
  /** Fields of this step that can be read back; the rest is unverifiable. */
  readonly verifiable: readonly string[];
  /** Longest that one send may take, a fresh read for `fill` or `uses` included. */
  readonly timeoutMs: number;
}

export interface SendInput extends CommandInput {
  readonly step: number;
  readonly fields: readonly string[];
  /** Same for every attempt of one logical send: `commandId:step:send`. */
  readonly idempotencyKey: string;
  readonly definitionDigest: string;
  /** Bindings of the approval that was given: judged once more, the moment before the send. */
  readonly approved: readonly string[];
  /**
   * While the API takes nothing it is tried again until then, epoch ms: by retry, which costs no history. Left out by commands
   * of an earlier version, which wait by themselves.
   */
  readonly deliverUntil?: number;
}

export interface SettleInput extends CommandInput {
  readonly fields: readonly string[];
  readonly readings: Readonly<Record<string, Reading>>;
  readonly before: RawRead | null;
  readonly baselineDeviceAt: string | null;
  readonly kept: Readonly<Record<string, Value>>;
  readonly policy: SettlePolicy;
  readonly sentAt: number;
}

export interface Settled {
  readonly fields: Readonly<Record<string, FieldVerdict>>;
  readonly samples: readonly SampleRun[];
}

/** What `settle` keeps in its heartbeat: the story so far, and how it reads to a waiting person. */
export interface SettleHeartbeat {
  readonly story: SettleStory;
  readonly note: string;
  /** Why it takes its time, as far as that is known. */
  readonly why: string | null;
  /** When settling ends at the latest, epoch ms; later than first told where the API made it pause. null: it has ended. */
  readonly until: number | null;
}

/** How long a look may take is known to those who ask for it: they wait so long, and no longer. */
export interface ReadInput {
  readonly device: string;
  readonly withinMs: number;
}

export interface RehearsalInput extends CommandInput {
  readonly withinMs: number;
}

/** One read of a device, for `get_device_state`. */
export interface DeviceState {
  readonly at: number;
  readonly deviceAt: string | null;
  readonly readings: Readonly<Record<string, Reading>>;
  readonly moving: boolean;
  readonly faults: Readonly<Record<string, FaultState>>;
  readonly trouble: string | null;
}

/** A dry run: what a command would do now. */
export interface Rehearsal {
  readonly state: DeviceState;
  readonly look: Look;
  readonly requirement: Requirement | null;
  readonly requests: readonly { readonly method: string; readonly url: string; readonly body: Json }[];
}
