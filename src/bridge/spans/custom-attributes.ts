import type { Attributes } from "@opentelemetry/api";
import {
  type AnswerForm,
  answerOf,
  type ModelOperation,
  type RunOperation,
} from "../../events/door.ts";
import type { Run } from "../lifecycle/door.ts";
import type { Reporter } from "../report.ts";
import type { SpanHandle } from "./span-handle.ts";

/** The span that has just opened, for an attribute hook. */
export interface SpanInfo {
  readonly operation: RunOperation | "execute_tool" | ModelOperation;
  readonly tenantId: string;
  readonly runId: string;
  readonly agent: string | undefined;
  /** The thread of the run. */
  readonly thread: string | undefined;
  /** The user of the run, if the sender reported it. Personal data. */
  readonly user: string | undefined;
  /** The tool, for `execute_tool`. */
  readonly tool: string | undefined;
  /** The requested model, for `chat` and `embeddings`, if the start of the call has it. */
  readonly model: string | undefined;
}

/** The operation of a span. */
export type SpanOpening = Pick<SpanInfo, "operation"> & Partial<Pick<SpanInfo, "tool" | "model">>;

/**
 * Adds your own attributes to the span of a run, a tool call or a model call when it opens. It is
 * not called for steps. It must be synchronous. Errors that it throws are counted and ignored. The bridge
 * takes at most 32 attributes and rejects names that start with `entelix.` or `gen_ai.`, and
 * `error.type`.
 */
export type AttributeHook = (span: SpanInfo) => Attributes | undefined;

const HOOK = "attributes hook";

/** These fit with the bridge's own attributes into the SDK's default limit of 128. */
const MOST = 32;

/** Calls an operator's attribute hook. Catches its errors, and limits its attributes. */
export class CustomAttributes {
  failures = 0;
  /** Number of attributes above the limit, or with a reserved name. */
  dropped = 0;
  readonly #hook: AttributeHook;
  readonly #reporter: Reporter;

  constructor(hook: AttributeHook, reporter: Reporter) {
    this.#hook = hook;
    this.#reporter = reporter;
  }

  readonly #answers: AnswerForm<Attributes> = {
    option: "attributes",
    expected: "an object of attributes",
    read: (given) => this.#cap(given),
  };

  of(run: Run<SpanHandle>, span: SpanOpening): Attributes | undefined {
    const hook = this.#hook;
    const ask = () =>
      hook({
        operation: span.operation,
        tenantId: run.tenantId,
        runId: run.runId,
        agent: run.agent,
        thread: run.threadId,
        user: run.owner?.user,
        tool: span.tool,
        model: span.model,
      });
    return answerOf(this.#answers, ask, (error) => {
      this.failures++;
      this.#reporter.report(error, HOOK);
    });
  }

  #cap(given: unknown): Attributes | undefined {
    // Each character of a text, and each element of a list, would become an attribute.
    if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
    const taken: Attributes = {};
    let count = 0;
    for (const [name, value] of Object.entries(given)) {
      if (count === MOST || isReserved(name)) {
        this.dropped++;
        continue;
      }
      taken[name] = value;
      count++;
    }
    return taken;
  }
}

function isReserved(name: string): boolean {
  return name.startsWith("entelix.") || name.startsWith("gen_ai.") || name === "error.type";
}
