import type { Context } from "@opentelemetry/api";
import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { Telemetry, type TelemetryOptions } from "./telemetry.ts";

/**
 * Turns an agent's lifecycle events into spans, without an audit side. Synchronous: `send` returns
 * nothing, and never throws.
 *
 * @example
 * const sink = new OtelSink();
 * agent.addSink(sink);
 */
export class OtelSink implements AgentEventSink {
  readonly #telemetry: Telemetry;
  readonly #reason: "shutdown" | "end_of_input";

  /** @throws RangeError when a limit is no whole number in its range. */
  constructor(options: TelemetryOptions = {}) {
    this.#telemetry = new Telemetry(options);
    this.#reason = options.mode === "replay" ? "end_of_input" : "shutdown";
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
    return this.#telemetry.contextOf(tenantId, runId, toolUseId);
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
    this.#telemetry.close(this.#reason);
    this.#telemetry.retire();
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
}
