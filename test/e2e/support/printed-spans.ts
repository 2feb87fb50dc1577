import { expect } from "vitest";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { bench } from "../../support/run-events.ts";

/** A span as the programs `*-content.mjs` print it. */
export interface PrintedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTime: readonly [number, number];
  readonly endTime: readonly [number, number];
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
}

/** What such a program prints. */
export interface PrintedRun {
  readonly spans: readonly PrintedSpan[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The recording. */
  readonly tape: string;
  readonly troubles: readonly string[];
}

/** What tells one live span from another: the audit's own attributes are the log's. */
function told(span: Omit<PrintedSpan, "links">) {
  const { attributes, endTime, name, parentSpanId, spanId, startTime, status, traceId } = span;
  const own = Object.entries(attributes)
    .filter(([key]) => !key.startsWith("entelix.audit."))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { name, traceId, spanId, parentSpanId, startTime, endTime, status, own };
}

/** Printed spans, to be compared with those of a replay. */
export const byId = (spans: readonly Omit<PrintedSpan, "links">[]) =>
  spans.map(told).sort((a, b) => (a.spanId < b.spanId ? -1 : 1));

/** The spans of a recording, to be compared by {@link byId}. */
export async function replayed(tape: string, captureContent: boolean) {
  const again = bench({ captureContent });
  async function* lines() {
    yield tape;
  }
  await readEvents(lines(), {
    dialects: [entelixDialect],
    onEvent: ({ event, envelope }) => again.sink.send(event, envelope),
    onIssue: (issue) => expect(issue).toBeUndefined(),
  });
  return byId(
    again.spans().map((span) => ({
      name: span.name,
      ...span.spanContext(),
      ...(span.parentSpanContext === undefined
        ? {}
        : { parentSpanId: span.parentSpanContext.spanId }),
      startTime: span.startTime,
      endTime: span.endTime,
      status: span.status,
      attributes: span.attributes,
    })),
  );
}
