/**
 * A value of an attribute, by the types of OTLP. The list and the pairs of a map are in their order;
 * `null` is a value of none of OTLP's types.
 */
export type WholeValue =
  | string
  | boolean
  | null
  | { readonly int: bigint }
  | { readonly double: number }
  | { readonly bytes: string }
  | { readonly list: readonly WholeValue[] }
  | { readonly map: WholeAttributes };

export type WholeAttributes = readonly (readonly [key: string, value: WholeValue])[];

export interface WholeEvent {
  readonly name: string;
  readonly time: bigint;
  readonly attributes: WholeAttributes;
  readonly droppedAttributes: number;
}

export interface WholeLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: WholeAttributes;
  readonly droppedAttributes: number;
  readonly flags: number;
}

/** A span with all that OTLP has for one, and with its scope and resource. */
export interface WholeSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  /** Empty for none. */
  readonly parentSpanId: string;
  readonly name: string;
  /** As OTLP numbers them: from 1. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: WholeAttributes;
  readonly dropped: {
    readonly attributes: number;
    readonly events: number;
    readonly links: number;
  };
  readonly events: readonly WholeEvent[];
  readonly links: readonly WholeLink[];
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
  readonly scope: { readonly name: string; readonly version: string; readonly schema: string };
  readonly resource: { readonly attributes: WholeAttributes; readonly schema: string };
}
