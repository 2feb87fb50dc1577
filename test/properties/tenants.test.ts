import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AuditEntry,
  MemorySessionLog,
  type RowAnchor,
  type ThreadKey,
} from "../../src/entries/audit.ts";
import { type Instant, stringifyExact } from "../../src/entries/events.ts";
import { canonicalRunId } from "../../src/events/door.ts";
import { type AgentEvent, Bridge, type EventEnvelope } from "../../src/index.ts";
import { second, ZERO } from "../support/run-events.ts";
import { runs } from "../support/runs.ts";
import { chaos, type Sent, TENANTS } from "./chaos.ts";
import { watchSpans } from "./watch.ts";

class WatchedLog extends MemorySessionLog {
  readonly taken: { readonly key: ThreadKey; readonly entry: AuditEntry }[] = [];

  override append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    for (const entry of entries) this.taken.push({ key, entry });
    return super.append(key, entries);
  }
}

/** What of one tenant came out, without the ids of traces and spans. */
interface Outcome {
  /** Each span as what it is, under what it stands, and what it points to. */
  readonly spans: readonly string[];
  /** Each row, in its order, with the span that it names. */
  readonly rows: readonly string[];
}

async function play(stream: readonly Sent[]) {
  const watch = watchSpans();
  const log = new WatchedLog();
  const bridge = new Bridge({ mode: "replay", tracerProvider: watch.provider, audit: log });
  for (const { event, envelope } of stream) void bridge.send(event, envelope);
  await bridge.shutdown();
  const outcome = (tenant: string): Outcome => outcomeOf(tenant, watch.ended, log);
  return { ended: watch.ended, outcome, diagnostics: bridge.diagnostics() };
}

function outcomeOf(tenant: string, ended: readonly ReadableSpan[], log: WatchedLog): Outcome {
  const own = ended.filter((span) => span.attributes["entelix.tenant_id"] === tenant);
  const named = new Map(own.map((span) => [placeOf(span.spanContext()), shown(span)]));
  const nameOf = (place: { readonly traceId: string; readonly spanId: string } | undefined) =>
    place === undefined ? "nothing" : (named.get(placeOf(place)) ?? "a span of nobody");
  const spans = own.map((span) => {
    const links = span.links.map((link) => [link.attributes, nameOf(link.context)]);
    return JSON.stringify([shown(span), nameOf(span.parentSpanContext), links]);
  });
  const rows = log.taken
    .filter(({ key }) => key.tenant_id === tenant)
    .map(({ key, entry }) => {
      const { trace_id: traceId, span_id: spanId, ...rest } = entry;
      const place = traceId && spanId ? { traceId, spanId } : undefined;
      return stringifyExact([key.thread_id, rest, nameOf(place)]);
    });
  return { spans: spans.toSorted(), rows };
}

const placeOf = ({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }) =>
  `${traceId}/${spanId}`;

/** A span without its ids. The hash of its last row covers them. */
function shown({ attributes, endTime, events, name, startTime, status }: ReadableSpan): string {
  const { "entelix.audit.hash": _, ...others } = attributes;
  const points = events.map((event) => [event.name, event.time, event.attributes]);
  return JSON.stringify([name, startTime, endTime, status, others, points]);
}

/**
 * The stream with only such parents, roots and resumed runs as the tenant's own events have named before:
 * a run that another tenant alone has is a link, and the IDs of one that nobody has seen yet depend on
 * who comes first. Nothing grows old, for time passes by the events of all tenants.
 */
function withKnownRuns(stream: readonly Sent[]): Sent[] {
  const runs = new Set<string>();
  const events = new Set<string>();
  return stream.map(({ event, envelope }) => {
    const { tenant_id, run_id } = event;
    const isKnown = (run: string | null | undefined) =>
      run != null && runs.has(nameOf(tenant_id, run));
    const told = event.type === "started" && !isKnown(event.parent_run_id) ? orphan(event) : event;
    const placed = placedBy(envelope, isKnown);
    // What comes again, names no run, is of no known type or is of a step without an id opens none.
    const id = envelope.event_id;
    const again = id !== undefined && events.has(nameOf(tenant_id, id));
    if (id !== undefined) events.add(nameOf(tenant_id, id));
    const noStep = "step_id" in event && event.step_id === "";
    if (!again && !noStep && run_id !== "" && String(event.type) !== "brand_new") {
      runs.add(nameOf(tenant_id, run_id));
    }
    return { event: told, envelope: placed };
  });
}

function placedBy(
  envelope: EventEnvelope,
  isKnown: (run: string | undefined) => boolean,
): EventEnvelope {
  const { root_run_id, resumed_from_run_id, timestamp, traceparent: _, ...rest } = envelope;
  return {
    ...rest,
    ...(timestamp === undefined ? {} : { timestamp: soon(timestamp) }),
    ...(root_run_id !== undefined && isKnown(root_run_id) ? { root_run_id } : {}),
    ...(resumed_from_run_id !== undefined && isKnown(resumed_from_run_id)
      ? { resumed_from_run_id }
      : {}),
  };
}

function orphan(event: AgentEvent): AgentEvent {
  return { ...event, ...{ parent_run_id: null } };
}

const nameOf = (tenant: string, run: string) => JSON.stringify([tenant, canonicalRunId(run)]);

function soon(at: string | Readonly<Instant>): string | Readonly<Instant> {
  return typeof at === "string" ? at : second((at[0] - ZERO) % 100);
}

describe("tenants that share run ids", () => {
  it("each have the spans and the rows that they would have alone", async () => {
    await fc.assert(
      fc.asyncProperty(chaos(), async (sent) => {
        const stream = withKnownRuns(sent);
        const together = await play(stream);
        for (const tenant of TENANTS) {
          const alone = await play(stream.filter(({ event }) => event.tenant_id === tenant));
          expect(together.outcome(tenant)).toEqual(alone.outcome(tenant));
          expect(alone.diagnostics.adjustments.tenant_conflicts).toBe(0);
        }
        const { adjustments, tenantConflicts } = together.diagnostics;
        const counts = Object.values(tenantConflicts);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(adjustments.tenant_conflicts);
      }),
      { numRuns: runs(300) },
    );
  });
});
