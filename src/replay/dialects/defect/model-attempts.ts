import {
  type Instant,
  isAt,
  type ModelEnd,
  millisecondsBetween,
  type OwnAttributes,
  type SignalAttributes,
  usageAttributes,
} from "../../../events/door.ts";
import type { SignalList } from "./arrival.ts";
import type { DefectUsage, LlmCallFinished, LlmCallStarted } from "./events.ts";

interface Failure {
  readonly at: Instant;
  readonly message: string;
}

/** The open model call and its last attempt. */
class Attempt {
  readonly model: string;
  /** From 1. */
  number: number;
  readonly startedAt: Instant;
  firstChunkAt: Instant | undefined = undefined;
  /** The failure of this attempt. Whether the call failed depends on the next event. */
  failure: Failure | undefined = undefined;

  constructor(model: string, number: number, startedAt: Instant) {
    this.model = model;
    this.number = number;
    this.startedAt = startedAt;
  }

  /** Adds the attributes of the call's end. */
  addTo(attributes: OwnAttributes): SignalAttributes {
    if (this.number > 1) attributes["entelix.retry.count"] = this.number - 1;
    if (this.firstChunkAt !== undefined) {
      const waitedMs = waited(this.startedAt, this.firstChunkAt);
      attributes["gen_ai.response.time_to_first_chunk"] = waitedMs / 1000;
    }
    return attributes;
  }
}

/**
 * The model calls of one turn with their attempts.
 *
 * The first attempt opens a call. A successful attempt closes it. After a failed attempt only the next event shows
 * whether the call failed; it is then closed with the time of the failure. A call without an end is closed as
 * unfinished by the next call, or with its turn.
 */
export class ModelAttempts {
  readonly #runId: string;
  #current: Attempt | undefined;
  /** The last end, to recognise its repeat. */
  #endAt: Instant | undefined;
  #endAttempt = 0;
  /** Error text of the last call, until the next call begins. */
  #lastError: string | undefined;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Error of the last model call. Empty if the call broke off without a text. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  start({ attempt, model }: LlmCallStarted, at: Instant, out: SignalList): void {
    const current = this.#current;
    if (current === undefined || attempt <= current.number) {
      if (current !== undefined) {
        const repeated = attempt === current.number && isAt(current.startedAt, at);
        if (repeated && current.model === model) return;
        this.#settle(current, at, out);
      }
      this.#opens(model, at, out);
      this.#lastError = undefined;
    } else {
      const { failure, number } = current;
      out.add({
        tenantId: out.tenantId,
        runId: this.#runId,
        at,
        signal: "span_event",
        name: "entelix.retry",
        on: "model",
        attributes: {
          "entelix.retry.attempt": number,
          "entelix.retry.delay_ms": failure && Math.round(waited(failure.at, at)),
          "entelix.error.message": failure?.message,
          "gen_ai.request.model": model === current.model ? undefined : model,
        } satisfies SignalAttributes,
      });
    }
    this.#current = new Attempt(model, attempt, at);
  }

  /** A part of the answer came. */
  answers(at: Instant): void {
    const current = this.#current;
    if (current !== undefined && current.failure === undefined) current.firstChunkAt ??= at;
  }

  /** @returns whether a call ended. A repeat ends none. */
  finish(event: LlmCallFinished, at: Instant, out: SignalList): boolean {
    const { attempt, error, model } = event;
    let current = this.#current;
    if (current === undefined) {
      const repeated = this.#endAttempt === attempt && this.#endAt && isAt(this.#endAt, at);
      if (repeated) return false;
      // Its start was not seen. The start time is unknown, but the usage is reported.
      this.#opens(model, at, out);
      current = new Attempt(model, attempt, at);
    } else if (attempt < current.number) return false;
    else if (attempt === current.number && current.failure !== undefined) return false;
    this.#endAt = at;
    this.#endAttempt = attempt;
    current.number = attempt;
    if (typeof error === "string") {
      current.failure = { at, message: error };
      this.#current = current;
      this.#lastError = error;
      return false;
    }
    this.#current = undefined;
    this.#lastError = undefined;
    const attributes = current.addTo(tokensOf(event.usage));
    this.#closes({ outcome: "complete", attributes }, at, out);
    return true;
  }

  /** Tools begin, so no further attempt follows. If the last attempt failed, so did the call. */
  settleFailed(out: SignalList): void {
    const current = this.#current;
    if (current?.failure !== undefined) this.#settle(current, current.failure.at, out);
  }

  /** The turn ends. An open call is cut off. */
  end(at: Instant, out: SignalList): void {
    if (this.#current !== undefined) this.#settle(this.#current, at, out);
  }

  /** The turn was aborted. An open call broke off: an error without a text. */
  abort(at: Instant, out: SignalList): void {
    const current = this.#current;
    if (current === undefined) return;
    if (current.failure === undefined) {
      current.failure = { at, message: "" };
      this.#lastError = "";
    }
    this.#settle(current, at, out);
  }

  #opens(model: string, at: Instant, out: SignalList): void {
    const { tenantId } = out;
    out.add({ tenantId, runId: this.#runId, at, signal: "model_opens", model: model || undefined });
  }

  #closes(end: ModelEnd, at: Instant, out: SignalList): void {
    const { tenantId } = out;
    out.add({ tenantId, runId: this.#runId, at, signal: "model_closes", end });
  }

  /** Closes the open call as failed or unfinished. */
  #settle(current: Attempt, at: Instant, out: SignalList): void {
    this.#current = undefined;
    const { failure } = current;
    const attributes = current.addTo({});
    if (failure === undefined) {
      this.#closes({ outcome: "unfinished", attributes }, at, out);
    } else {
      const problem = { message: failure.message };
      this.#closes({ outcome: "error", problem, attributes }, failure.at, out);
    }
  }
}

/** Milliseconds between two times. 0 if the clock went back. */
function waited(from: Instant, to: Instant): number {
  return Math.max(0, millisecondsBetween(from, to));
}

/** The tokens of a model call or of a turn of the session itself, without those of sub-agents. */
export function tokensOf(usage: DefectUsage | null | undefined): OwnAttributes {
  if (usage === null || usage === undefined) return {};
  const written = usage.cache_creation_input_tokens ?? null;
  return usageAttributes({ ...usage, cache_write_input_tokens: written });
}

/** The tokens of a sub-agent's turn. Other names keep them out of the session's sums. */
export function childTokensOf(given: DefectUsage | null | undefined): OwnAttributes {
  const usage = tokensOf(given);
  return {
    "entelix.usage.input_tokens": usage["gen_ai.usage.input_tokens"],
    "entelix.usage.output_tokens": usage["gen_ai.usage.output_tokens"],
    "entelix.usage.cache_read.input_tokens": usage["gen_ai.usage.cache_read.input_tokens"],
    "entelix.usage.cache_write.input_tokens": usage["gen_ai.usage.cache_write.input_tokens"],
  };
}
