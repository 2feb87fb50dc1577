import fc from "fast-check";
import { RunIds } from "../../src/entries/context.ts";
import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../src/entries/events.ts";
import type { AgentEvent, EventEnvelope, FailureKind } from "../../src/index.ts";
import { RunEvents, second } from "../support/run-events.ts";

/** An event as it is sent, with its envelope. */
export interface Sent {
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
}

export const TENANTS = ["acme", "globex", "initech"] as const;

const uuid = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
/** Run ids that tenants share: UUIDs, other names, one whose UUID is the hash of another's run. */
const HASHED_R1 = RunIds.hashed("acme", "r1").traceId;
const UUID_OF_R1 = HASHED_R1.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
export const RUN_IDS = [
  ...[1, 2, 3, 4].map(uuid),
  uuid(1).toUpperCase(),
  UUID_OF_R1,
  "r1",
  "r2",
  "",
];

const runId = fc.constantFrom(...RUN_IDS);
/** A tenant that gives two of its own runs the same 16 bytes gets what it asked for. */
const runIdOf = (tenant: string) => runId.filter((id) => id !== UUID_OF_R1 || tenant !== "acme");
const name = fc.constantFrom("a", "b");
/** Repeated, empty and hostile ids. */
const callId = fc.constantFrom("call_1", "call_2", "", "search#0", "\0a", "name a");
const milliseconds = fc.constantFrom(0, 1, 500, 3_600_000, Number.NaN, -1);

const failureKind: fc.Arbitrary<FailureKind> = fc.constantFrom(
  ...FAILURE_KIND_IDS.map(
    (type): FailureKind =>
      type === "tool_error_terminal" ? { type, kind: "auth", tool_name: "bigquery" } : { type },
  ),
);
const wireCode = fc.constantFrom("rate_limited", "interrupted", "cancelled", "brand_new");

export interface ChaosOptions {
  /** Nothing fails: what ends badly is a pause. */
  readonly interruptedOnly?: boolean;
}

/** Any event of a model call: ids repeat and may be empty. */
function modelEvent(run: RunEvents, calm: boolean): fc.Arbitrary<AgentEvent> {
  const calls = fc.tuple(fc.constantFrom("m1", "m2", "m3", ""), milliseconds);
  const kinds: fc.Arbitrary<AgentEvent>[] = [
    calls.map(([id]) => run.modelStart(id, { input: ["secret"] })),
    calls.map(([id, duration_ms]) => run.modelComplete(id, { duration_ms, output: "secret" })),
  ];
  if (!calm) {
    const failed = fc.tuple(calls, failureKind);
    kinds.push(
      failed.map(([[id, duration_ms], kind]) => run.modelError(id, { duration_ms, kind })),
    );
  }
  return fc.oneof(...kinds);
}

const stepId = fc.constantFrom("s1", "s2", "s3", "");

/** Any event of a step: ids repeat and may be empty. */
function stepEvent(run: RunEvents, calm: boolean): fc.Arbitrary<AgentEvent> {
  const kind = fc.constantFrom("step" as const, "retrieval" as const, null);
  const timed = fc.record({ duration_ms: milliseconds });
  const code = calm ? fc.constant("interrupted") : wireCode;
  return fc.oneof(
    fc.tuple(stepId, kind).map(([id, kind]) => run.stepStart(id, { input: "secret", kind })),
    fc
      .tuple(stepId, timed)
      .map(([id, more]) => run.stepComplete(id, { ...more, output: "secret" })),
    fc
      .tuple(stepId, timed, code)
      .map(([id, more, wire_code]) =>
        run.stepError(id, { ...more, envelope: { wire_code, wire_class: "client" } }),
      ),
  );
}

/** Where something stands in its run. */
const details = fc.record({ step_id: stepId, tool_use_id: callId }, { requiredKeys: [] });

/** Any event of one run. */
function anyEvent(run: RunEvents, options: ChaosOptions): fc.Arbitrary<AgentEvent> {
  const calm = options.interruptedOnly === true;
  const envelope = (calm ? fc.constant("interrupted") : wireCode).map((wire_code) => ({
    envelope: { wire_code, wire_class: "client" as const },
  }));
  const kind = fc.constantFrom(...TOOL_ERROR_KINDS);
  const calls = fc.tuple(callId, name, milliseconds);
  const ends: fc.Arbitrary<AgentEvent>[] = [
    fc.constant(run.complete()),
    fc.constant(run.interrupted()),
    envelope.map((more) => run.failed(more)),
  ];
  if (!calm) ends.push(failureKind.map((failure) => run.failed({ kind: failure })));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.option(runIdOf(run.tenant_id), { freq: 2 }).map((p) => run.started("agent", p)),
    },
    { weight: 4, arbitrary: calls.map(([id, tool]) => run.toolStart(id, tool, { secret: "s" })) },
    { weight: 4, arbitrary: calls.map(([id, tool, ms]) => run.toolComplete(id, tool, ms)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(calls, envelope, kind)
        .map(([[id, tool, ms], more, error]) =>
          run.toolError(id, { ...more, tool, kind: error, duration_ms: ms }),
        ),
    },
    {
      weight: 1,
      arbitrary: calls.map(([id, tool, ms]) => ({
        ...run.toolCancelled(id),
        tool,
        duration_ms: ms,
      })),
    },
    { weight: 1, arbitrary: calls.map(([id, tool]) => run.approved(id, tool)) },
    { weight: 1, arbitrary: calls.map(([id, tool]) => run.denied(id, tool)) },
    { weight: 4, arbitrary: modelEvent(run, calm) },
    { weight: 4, arbitrary: stepEvent(run, calm) },
    { weight: 3, arbitrary: fc.oneof(...ends) },
    {
      weight: 1,
      arbitrary: fc.constant(Object.assign(run.complete(), { type: "brand_new" })),
    },
  );
}

/** Trace contexts of strangers, and into the traces of the runs themselves. */
const traceparent = fc
  .tuple(
    fc.constantFrom(HASHED_R1, uuid(1).replaceAll("-", ""), uuid(9).replaceAll("-", ""), "bad"),
    fc.constantFrom("aaaabbbbccccdddd", "eeeeffff00001111"),
    fc.constantFrom("00", "01"),
  )
  .map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`);

const envelopeOf = (eventIds: boolean, tenant: string): fc.Arbitrary<EventEnvelope> =>
  fc
    .record(
      {
        // Times go back and forth, and far: past the age limit.
        timestamp: fc.oneof(
          { weight: 20, arbitrary: fc.integer({ min: 0, max: 100 }).map(second) },
          { weight: 1, arbitrary: fc.integer({ min: 86_400, max: 400_000 }).map(second) },
        ),
        thread_id: fc.constantFrom("th-1", "th-2"),
        root_run_id: runIdOf(tenant),
        resumed_from_run_id: runIdOf(tenant),
        parent_tool_use_id: callId,
        traceparent,
        details,
        ...(eventIds ? { event_id: fc.integer({ min: 0, max: 60 }).map(String) } : {}),
      },
      { requiredKeys: eventIds ? ["timestamp", "event_id"] : ["timestamp"] },
    )
    .map((envelope) => envelope);

/** A stream without sense: any event, any order, any place. */
export function chaos(options: ChaosOptions = {}): fc.Arbitrary<Sent[]> {
  return fc.boolean().chain((eventIds) =>
    fc.array(
      fc
        .constantFrom(...TENANTS)
        .chain((tenant) => fc.tuple(runIdOf(tenant), fc.constant(tenant)))
        .chain(([id, tenant]) =>
          fc.record({
            event: anyEvent(new RunEvents(id, tenant), options),
            envelope: fc.oneof(
              { weight: 3, arbitrary: envelopeOf(eventIds, tenant) },
              {
                weight: 2,
                arbitrary: fc
                  .integer({ min: 0, max: 100 })
                  .chain((at) => fc.record({ timestamp: fc.constant(second(at)), details })),
              },
            ),
          }),
        ),
      { maxLength: 60 },
    ),
  );
}
