/**
 * The catalogue once it is read, merged and checked: what the rest of Readback works with.
 * Everything here is plain JSON, so a definition has one digest and may be compared. Durations are milliseconds.
 */

import type { Json, Value } from '../values.ts';
import type { Auth } from './auth-definition.ts';

/** JSONata source, already checked against the allow-list of `expressions.ts`. */
export type Expression = string;

export interface Catalogue {
  readonly timezone: string;
  readonly settings: Settings;
  readonly connections: Readonly<Record<string, Connection>>;
  readonly devices: Readonly<Record<string, DeviceDefinition>>;
  readonly approvals: readonly ApprovalRule[];
  /** SHA-256 over devices, approvals and connections without their secrets. */
  readonly digest: string;
}

export interface Settings {
  /** `answer`: a call that waits for an operator is answered at once; `task`: it stays a task. */
  readonly operatorWait: 'answer' | 'task';
  /** Name of the connection that is rung when an approval waits. */
  readonly webhook: string | null;
  readonly decideInTemporalUi: boolean;
}

export interface Connection {
  readonly name: string;
  readonly kind: 'http' | 'home-assistant' | 'mqtt';
  /** Origin and base path, without a trailing slash; the only place a request of this connection can go to. `simulator:` until `up` fills it in. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly auth: Auth;
  readonly tls: TlsOptions | null;
  /** What `$secret.name` stands for in bodies. Only an adapter looks at it, and only while it writes a request. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly limits: readonly Limit[];
  readonly spacingMs: number;
  readonly reply: ReplyRules;
}

/** Paths of PEM files. */
export interface TlsOptions {
  /** Authorities to trust instead of the system's. */
  readonly ca: string | null;
  /** The certificate that shows who we are, and its key: both or none. */
  readonly cert: string | null;
  readonly key: string | null;
  /** Trust anybody. */
  readonly insecure: boolean;
}

export interface Limit {
  readonly requests: number;
  readonly perMs: number;
  readonly keepForReads: number;
  readonly resetHeader: string | null;
  readonly remainingHeader: string | null;
}

/** In the order they are tried. A class without an expression is decided by the status alone. */
export const REPLY_CLASSES = [
  'asleep',
  'limited',
  'signedOut',
  'already',
  'maybe',
  'refused',
  'accepted',
] as const;
export type ReplyClass = (typeof REPLY_CLASSES)[number];
export type ReplyRules = Readonly<Partial<Record<ReplyClass, Expression>>>;

export interface DeviceDefinition {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly area: string | null;
  readonly tags: readonly string[];
  readonly hint: string | null;
  readonly connection: string;
  /** Only for `home-assistant` connections, e.g. `climate.bedroom`. */
  readonly entity: string | null;
  /** Parameters of the profile with the device's own values; `$name` in expressions and `{name}` in paths. */
  readonly params: Readonly<Record<string, Value>>;
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly send: readonly SendStep[];
  readonly read: ReadDefinition | null;
  readonly faults: Readonly<Record<string, Expression>>;
  readonly settle: SettlePolicy;
  readonly wake: WakePolicy | null;
  readonly deliverWithinMs: number;
  readonly lane: 'queue' | 'supersede' | 'reject';
  /** Connection's rules with the device's own merged over them. */
  readonly reply: ReplyRules;
  /** SHA-256 of everything above: an approval is void when it has changed. */
  readonly digest: string;
}

export type FieldType = 'onoff' | 'percent' | 'celsius' | 'number' | 'enum' | 'text' | 'action';

export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  /** Ours: `°C`, `°F`, `%`, `K`, `W`, …; null where a unit makes no sense. */
  readonly unit: string | null;
  /** Name in a default body. */
  readonly key: string;
  /** null: never read back (`readback: none`, or only `confirm`). */
  readonly read: Expression | null;
  /** Value that counts when a 2xx reply lacks the field. */
  readonly missing: Value | null;
  /** Device values that mean "no reading". */
  readonly invalid: readonly Value[];
  /** For onoff and enum: each of our values with its spellings. null: number or free text. */
  readonly values: readonly FieldValue[] | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly step: number | null;
  /** How the device itself counts, where that differs from ours. */
  readonly device: {
    readonly unit: string | null;
    readonly range: readonly [number, number] | null;
    readonly step: number | null;
    readonly round: 'nearest' | 'down' | 'up';
  };
  /** In our unit; always less than one step. null: the default of `comparison.ts`. */
  readonly tolerance: number | null;
  readonly appliesWhen: FieldCondition;
  /** Fields that must be given together with this one. */
  readonly requires: readonly string[];
  /** Must also hold before the field counts as verified. Sees the reads, `$desired` and `$before` (raw baseline). */
  readonly confirm: Expression | null;
  readonly readOnly: boolean;
  /** false: the catalogue says that there is no readback; the best outcome is `unverifiable`. */
  readonly readback: boolean;
  /** Overrides of the device's settle policy while this field is asked. */
  readonly settle: Partial<SettlePolicy> | null;
  readonly hint: string | null;
}

export interface FieldValue {
  readonly value: string;
  /** What is sent. */
  readonly send: string | number | boolean;
  /** What is accepted when read, scalars compared by type and text without regard to case. */
  readonly accepts: readonly (string | number | boolean | ValueRange)[];
}
/** `">=20"` or `"<5"`: a derived value. */
export interface ValueRange {
  readonly comparison: '<' | '<=' | '>' | '>=';
  readonly than: number;
}

/** Each named field must be one of the listed values. Empty: always. */
export type FieldCondition = Readonly<Record<string, readonly Value[]>>;

/** One request template: `METHOD /path?query` for http, a topic for mqtt. `{param}` and `{wire.field}` are percent-encoded. */
export interface RequestTemplate {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A tree; strings starting with `=` are expressions; null: no body given (then the asked fields under their keys, for a send). */
  readonly body: Json | null;
  readonly as: 'json' | 'form' | 'text';
  /** Set instead of method and path for mqtt. */
  readonly topic: string | null;
}

export interface SendStep {
  /** Position in the device's list; names the step in evidence. */
  readonly index: number;
  readonly for: readonly string[];
  readonly when: FieldCondition;
  readonly request: RequestTemplate;
  /** Complete a whole-state request from a fresh read. */
  readonly fillFromCurrent: boolean;
  /** Further fields whose current value the request needs. */
  readonly uses: readonly string[];
  readonly kind: 'set' | 'toggle' | 'pulse';
  readonly repeatable: boolean;
  /** What must happen before the next step: a verified readback, nothing, or a pause. */
  readonly then:
    | { readonly kind: 'verify' }
    | { readonly kind: 'sent' }
    | { readonly kind: 'pause'; readonly ms: number };
  readonly keep: Readonly<Record<string, Expression>>;
  readonly idempotencyHeader: string | null;
}

export interface ReadDefinition {
  /** One request is named `body`'s source; several are seen by expressions under their own names. */
  readonly requests: Readonly<Record<string, RequestTemplate>>;
  readonly single: boolean;
  readonly pick: Expression | null;
  readonly shareMs: number;
  readonly refresh: { readonly request: RequestTemplate; readonly waitMs: number } | null;
  /** mqtt: the message that makes the device report. */
  readonly ask: RequestTemplate | null;
  /** mqtt: topics that say `offline` while the device, or what connects it, is away. Templates, as in `RequestTemplate.topic`. */
  readonly availability: readonly string[];
  readonly available: Expression | null;
  readonly fresh: Expression | null;
  readonly moving: Expression | null;
  readonly at: Expression | null;
}

export interface SettlePolicy {
  readonly firstMs: number;
  readonly everyMs: number;
  readonly withinMs: number;
  readonly stableMs: number;
  /** At least 2: one equal reading may be an echo. */
  readonly reads: number;
  readonly lagMs: number;
  readonly lagReason: string | null;
  readonly maxSends: number;
}

export interface WakePolicy {
  readonly request: RequestTemplate;
  readonly until: Expression;
  readonly withinMs: number;
  readonly atMost: number;
}

/** Who has to say yes: the person at the asking client, or somebody who holds the approver role. */
export type ApprovalBy = 'requester' | 'operator';

export interface ApprovalRule {
  readonly index: number;
  readonly for: {
    readonly device: string | null;
    readonly tag: string | null;
    readonly area: string | null;
    readonly field: string | null;
    readonly becomes: readonly Value[] | null;
    readonly unless: readonly Value[] | null;
    readonly above: number | null;
    readonly below: number | null;
    readonly changesBy: number | null;
    readonly unit: string | null;
  };
  /** `HH:MM` local to the catalogue's time zone; may wrap midnight. */
  readonly between: { readonly from: string; readonly to: string; readonly timezone: string } | null;
  readonly when: Expression | null;
  readonly by: ApprovalBy;
  readonly expiresMs: number;
  readonly reason: string | null;
}
