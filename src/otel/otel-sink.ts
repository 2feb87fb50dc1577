import type { Context } from "@opentelemetry/api";
import type { CarriedContext } from "../context/carried-context.ts";
import type { ContextSource } from "../context/context-source.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";
import type { ContextCarrier, InsidePlace } from "../sinks/context-carrier.ts";
import { carriedFrom } from "./carry.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { setOwnEnds } from "./own-ends.ts";
import { Telemetry } from "./telemetry.ts";
import type { TelemetryOptions } from "./telemetry-options.ts";

/**
 * Turns an agent's lifecycle events into spans, without an audit side. Synchronous: `send` returns
 * nothing, and never throws.
 *
 * @example
 * const sink = new OtelSink();
 * agent.addSink(sink);
 */
export class OtelSink implements AgentEventSink, ContextCarrier, ContextSource {
  readonly #telemetry: Telemetry;
  readonly #reason: "shutdown" | "end_of_input";

  /**
   * @throws TypeError when an option is of another type.
   * @throws RangeError when a limit is no whole number in its range.
   */
  constructor(options: TelemetryOptions = {}) {
    this.#telemetry = new Telemetry(options);
    this.#reason = options.mode === "replay" ? "end_of_input" : "shutdown";
    setOwnEnds(this, { forceFlush: async () => {}, shutdown: async () => this.#end() });
  }

  send(event: AgentEvent, envelope?: EventEnvelope): void {
    this.#telemetry.send(event, envelope);
  }

  /**
   * The active context with an open span of ours in it, so that code run inside a tool call gets its
   * HTTP and database spans under that call.
   *
   * @param toolUseId the tool call; default: the run itself. Of several open calls with this id the
   *   newest counts.
   * @returns the run's context where that call is not open, and the active context unchanged where
   *   the run is not.
   *
   * @example
   * await context.with(sink.contextOf(tenantId, runId, toolUseId), () => callTool());
   */
  contextOf(tenantId: string, runId: string, toolUseId?: string): Context {
    return this.#telemetry.contexts.of(tenantId, runId, toolUseId);
  }

  /**
   * Calls `work` with an open span of ours active: the model call's where the place names one that is
   * open, else the tool call's, else the run's. Where the run is not open, `work` is called all the
   * same. It throws and returns what `work` does.
   *
   * @example
   * await sink.inside({ tenant_id, run_id, tool_use_id }, () => callTool());
   */
  inside<T>(place: InsidePlace, work: () => T): T {
    return this.#telemetry.contexts.inside(place, work);
  }

  /**
   * What a child agent in another process or language has to know to stand in this trace, under the
   * tool call that starts it: for `toHeaders`, `toEnvironment` and `toEnvelope`.
   *
   * @param toolUseId the tool call; default: the run itself. Of several calls with this id the newest
   *   counts.
   * @returns `undefined` where the run is not known.
   *
   * @example
   * const carried = sink.carry(tenantId, runId, toolUseId);
   * spawn("expert", { env: { ...process.env, ...toEnvironment(carried) } });
   */
  carry(tenantId: string, runId: string, toolUseId?: string): CarriedContext | undefined {
    return carriedFrom(this.#telemetry.find(tenantId, runId), toolUseId);
  }

  /** What this process knows of a run and its events do not say. A `RecorderSink` asks for it. */
  provenanceOf(tenantId: string, runId: string): EventEnvelope | undefined {
    return this.#telemetry.provenanceOf(tenantId, runId);
  }

  /** Sends what the tracer provider holds. Rejects when the provider does. */
  forceFlush(): Promise<void> {
    return this.#telemetry.flush();
  }

  /**
   * Closes the open runs (`abandoned`) and sends what the provider holds; the provider stays open.
   * Call it before the provider's own shutdown. Never rejects.
   */
  async shutdown(): Promise<void> {
    this.#end();
    try {
      await this.#telemetry.flush();
    } catch (error) {
      this.#telemetry.reporter.report(error, "flush at shutdown");
    }
  }

  diagnostics(): Diagnostics {
    return this.#telemetry.diagnostics();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #end(): void {
    this.#telemetry.close(this.#reason);
    this.#telemetry.retire();
  }
}
