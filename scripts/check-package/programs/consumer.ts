// What a TypeScript user writes, in either module system, compiled against the packed types.
import { mkdtemp } from "node:fs/promises";
import {
  AgentError,
  type AgentEvent,
  type AgentEventSink,
  type Bridge,
  classifyFailure,
  createIdGenerator,
  type EventEnvelope,
  type FailureKind,
  isAgentError,
  type RenderedForLlm,
  renderForLlm,
  SequenceCounter,
  type SessionLog,
} from "entelix-otel";
import { NdjsonSessionLog, toGraphEvent } from "entelix-otel/audit";
import { wireId } from "entelix-otel/events";
import { setupTracing, type Tracing, type TracingOptions } from "entelix-otel/setup";
import { CaptureSink, FailOpenSink, FanOutSink } from "entelix-otel/sinks";
import { setupTelemetry, type TelemetrySetupOptions } from "entelix-otel/telemetry";

interface State {
  readonly answer: string;
}

class TypeCounter implements AgentEventSink<State> {
  readonly seen = new Map<string, number>();

  send(event: AgentEvent<State>, envelope?: EventEnvelope): void {
    const label = `${describe(event)}#${envelope?.sequence ?? "-"}`;
    this.seen.set(label, (this.seen.get(label) ?? 0) + 1);
  }
}

/** Exhaustive: an event type that is added or renamed does not compile here. */
function describe(event: AgentEvent<State>): string {
  switch (event.type) {
    case "started":
      return event.agent;
    case "model_start":
    case "model_complete":
    case "model_error":
      return event.model_call_id;
    case "step_start":
    case "step_complete":
    case "step_error":
      return event.step;
    case "tool_start":
    case "tool_complete":
    case "tool_call_asked":
    case "tool_call_approved":
      return event.tool;
    case "tool_error":
      return event.error_for_llm;
    case "tool_call_denied":
      return event.reason;
    case "complete":
      return event.state.answer;
    case "failed":
      return event.kind === undefined ? event.envelope.wire_code : detail(event.kind);
    case "interrupted":
      return event.kind.type;
    default: {
      const unknown: never = event;
      return unknown;
    }
  }
}

function detail(kind: FailureKind): string {
  return kind.type === "tool_error_terminal" ? `${kind.tool_name}: ${kind.kind}` : wireId(kind);
}

// @ts-expect-error: text for the model can't be made from any text
export const notRendered: RenderedForLlm = "database password is hunter2";

// @ts-expect-error: the option is checked by name
export const misspelt: TracingOptions = { servicename: "agent" };

// @ts-expect-error: an interval is a number of ms
export const inWords: TelemetrySetupOptions = { metricIntervalMs: "15s" };

async function main(): Promise<void> {
  const log: SessionLog & { close(): Promise<void> } = await NdjsonSessionLog.open(
    await mkdtemp("audit-"),
    { durability: "none" },
  );
  const common = { register: false, endpoint: "http://127.0.0.1:9", onError() {} };
  const telemetry = setupTelemetry({ ...common, metricIntervalMs: 60_000 });
  // What takes the one takes the other.
  const tracing: Tracing[] = [telemetry, setupTracing(common)];
  const meters: { getMeter(name: string): unknown } = telemetry.meterProvider;
  if (meters.getMeter("consumer") === undefined) throw new TypeError("expected a meter");
  const bridge: Bridge = telemetry.createBridge({
    audit: log,
    benignFailureKinds: ["cancelled"],
    metrics: { tenants: ["acme"], tools: 10 },
  });
  const counter = new TypeCounter();
  const capture = new CaptureSink<State>();
  const sinks = new FanOutSink<State>([bridge, new FailOpenSink<State>(counter), capture]);
  const sequence = new SequenceCounter();
  const run = { run_id: "0190a3b4-7c8d-7e9f-8a1b-2c3d4e5f6071", tenant_id: "acme" };
  const failure: unknown = AgentError.http(503, "vendor down");
  if (!isAgentError(failure)) throw new TypeError("failure: expected an AgentError");
  const events: AgentEvent<State>[] = [
    { type: "started", ...run, agent: "support", parent_run_id: null },
    {
      type: "tool_error",
      ...run,
      tool_use_id: "call_1",
      tool: "search",
      error: failure.message,
      error_for_llm: renderForLlm(failure),
      envelope: failure.envelope(),
      duration_ms: 12n,
    },
    { type: "complete", ...run, state: { answer: "42" }, usage: null },
  ];
  for (const event of events) await sinks.send(event, { sequence: sequence.next() });
  const [, second] = events;
  const row = second === undefined ? undefined : toGraphEvent(second, "2026-01-01T00:00:00Z");
  const generator: { generateTraceId(): string } = createIdGenerator();
  const found = [
    bridge.diagnostics().events,
    row?.kind,
    wireId(classifyFailure(failure)),
    counter.seen.size,
    generator.generateTraceId().length,
  ];
  for (const each of tracing) await each.shutdown();
  await log.close();
  console.log(found.join(" "));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
