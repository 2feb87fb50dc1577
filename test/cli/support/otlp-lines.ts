import { readFileSync } from "node:fs";

/** A span of an OTLP/JSON lines file, attributes by name with their typed value. */
export interface LineSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly values: Readonly<Record<string, unknown>>;
  /** The whole span with its resource and scope, as one comparable text. */
  readonly text: string;
}

interface KeyValue {
  readonly key: string;
  readonly value: unknown;
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly scope: unknown;
      readonly spans: readonly (Omit<LineSpan, "values" | "text"> & {
        readonly attributes: readonly KeyValue[];
      })[];
    }[];
  }[];
}

export function parseLines(text: string): LineSpan[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const request: Request = JSON.parse(line);
      return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ scope, spans }) =>
          spans.map((span) => ({
            ...span,
            values: Object.fromEntries(span.attributes.map(({ key, value }) => [key, value])),
            text: JSON.stringify([resource, scope, span]),
          })),
        ),
      );
    });
}

export function readSpans(file: string): LineSpan[] {
  return parseLines(readFileSync(file, "utf8"));
}

/** The set of spans, in one order whatever order they came in. */
export function spanSet(file: string): string[] {
  return readSpans(file)
    .map((span) => span.text)
    .sort();
}
