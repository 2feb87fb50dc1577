import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import { classifyFailure, envelopeOf } from "../../../src/events/errors/classify.ts";
import type { AgentEventSink } from "../../../src/events/sinks/agent-event-sink.ts";

/** What the caller of a run got, as the golden file records it. */
export interface CallerResult {
  readonly ok: boolean;
  readonly error?: string;
  readonly wire_code?: string;
}

/**
 * Runs `body` and sends events as upstream's agent does: an error of `started` or `complete` is the
 * caller's and nothing is sent after it; that of `failed` is ignored.
 */
export async function runAgent(sink: AgentEventSink, body: () => void): Promise<CallerResult> {
  const ids = { run_id: "r1", tenant_id: "acme" } as const;
  try {
    await sink.send({ ...ids, type: "started", agent: "a" });
    await runBody(sink, body);
    await sink.send({ ...ids, type: "complete", state: null });
    return { ok: true };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: message, wire_code: envelopeOf(error).wire_code };
  }
}

async function runBody(sink: AgentEventSink, body: () => void): Promise<void> {
  try {
    body();
  } catch (error) {
    const failed: AgentEvent = {
      run_id: "r1",
      tenant_id: "acme",
      type: "failed",
      error: String(error),
      envelope: envelopeOf(error),
      kind: classifyFailure(error),
    };
    await Promise.resolve(sink.send(failed)).catch(() => {});
    throw error;
  }
}

/** A sink that notes its calls in a shared list, and fails on some event types. */
export class NotingSink implements AgentEventSink {
  readonly #name: string;
  readonly #calls: string[];
  readonly #failsOn: readonly string[];

  constructor(name: string, calls: string[], failsOn: readonly string[] = []) {
    this.#name = name;
    this.#calls = calls;
    this.#failsOn = failsOn;
  }

  async send(event: AgentEvent): Promise<void> {
    const fails = this.#failsOn.includes(event.type);
    this.#calls.push(`${this.#name}:${event.type}${fails ? ":ERR" : ""}`);
    if (fails) throw AgentError.network(`${this.#name} down`);
  }
}
