/** A value of a field in Readback's own terms: `'on'`/`'off'` for onoff, a number in the field's unit, text for enum and text, `true` for action. */
export type Value = string | number | boolean;

/** What a caller wants: field name → value, already normalised and in the fields' own units. */
export type Desired = Readonly<Record<string, Value>>;

/** Anything JSON can hold. Replies of devices are this once parsed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What one read says about one field. Absent, null, "", "unknown", "unavailable" and NaN are `unreadable`, never equal to anything. */
export type Reading =
  | { readonly kind: 'value'; readonly value: Value }
  /** `word`: the device's own single word, where it is none that the field knows, e.g. `opening` for a door. */
  | { readonly kind: 'unreadable'; readonly why: string; readonly word?: string }
  | { readonly kind: 'notApplicable'; readonly why: string };
