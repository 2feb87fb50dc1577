import {
  checkFunction,
  checkGiven,
  checkObject,
  checkOneOf,
  checkOptionsObject,
  checkText,
  checkWhole,
  type InnerSink,
  type IsFailure,
} from "../../events/door.ts";
import { checkTenant, tenantOf } from "../core/common-options.ts";
import type { DecidedBy } from "../core/decided-by.ts";
import { type Fields, textOf } from "../core/narrow.ts";
import type { Price } from "../runtime/price.ts";
import type { RunSubject } from "../runtime/run-subject.ts";

/** Limits of a handler's memory. The handler's `counts` count each time that a limit applies. */
export interface HandlerLimits {
  /**
   * LangChain calls open at once. Above it, the oldest is evicted. The first handler of a sink sets
   * it. Default 100,000.
   */
  readonly openCalls?: number | undefined;
  /**
   * Minimum number of paused threads that are remembered to link their resumption. The maximum is
   * twice as many. The first handler of a sink sets it. Default 10,000.
   */
  readonly pausedThreads?: number | undefined;
}

/** Where the events go, and whose they are. */
export interface LangChainHandlerOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A string applies to every invocation without `tenant_id` in its
   * metadata. A function is called once for each outermost invocation, and only its result counts.
   * If it throws or returns anything but a non-empty string, no event of that invocation is sent
   * (`counts.refused`).
   */
  readonly tenant: string | ((metadata: Readonly<Record<string, unknown>>) => string);
  /**
   * Name of the agent (`gen_ai.agent.name`) for the outermost runs. Default:
   * `metadata.lc_agent_name` as `createAgent` sets it, else the name of the graph or its `runName`.
   */
  readonly agent?: string | undefined;
  /**
   * Whose run an invocation is, from its `metadata` and its `tags`: personal data, so nothing of them
   * is sent but what this returns. Called once for each outermost invocation; the runs below inherit
   * it. If it throws, or returns an invalid subject, `onError` is called, and nothing is sent of it.
   * Default: nothing, or what the run of `entelix-otel/runtime` around it says.
   *
   * @example
   * context: ({ user_id }, tags) => ({ user: String(user_id), tags })
   */
  readonly context?:
    | ((
        metadata: Readonly<Record<string, unknown>>,
        tags: readonly string[],
      ) => RunSubject | undefined)
    | undefined;
  /**
   * Which results of tools are failures. Default: a `ToolMessage` with `status: "error"`, and results
   * of MCP tools with `isError: true`. The call is then a `tool_error` with the wire code
   * `tool_result_error`, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /**
   * Gives the price of a model call that said what it used, in US dollars. Default: none, so no cost is
   * known.
   */
  readonly price?: Price | undefined;
  /**
   * Names the person behind a decision of `humanInTheLoopMiddleware`. It gets the metadata of the
   * invocation that resumes the graph. Default: nobody is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /** Called with errors of the sink and of the handler. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * What to do with a model, tool or retriever that is called outside a chain, graph or run. `run` makes a run
   * with its name. `skip` sends nothing. Default `run`.
   */
  readonly loneCalls?: "run" | "skip" | undefined;
  readonly limits?: HandlerLimits | undefined;
}

/** Counts of callbacks that a handler did not send as events. */
export interface HandlerCounts {
  /** Repeated starts: the handler, or another one with the same sink, is registered twice. */
  readonly duplicates: number;
  /** Ends without a start: repeated, evicted, or skipped. */
  readonly unmatched: number;
  /** Callbacks of a run after its end. */
  readonly late: number;
  /** Open calls that were evicted because of `limits.openCalls`. */
  readonly forgotten: number;
  /** Pauses that were evicted because of `limits.pausedThreads`. */
  readonly threadsForgotten: number;
  /** Outermost invocations without a known tenant. */
  readonly refused: number;
  /** Models, tools and retrievers called alone, with `loneCalls: "skip"`. */
  readonly skipped: number;
  /** Tool calls that were already reported by another instrumentation. */
  readonly shownElsewhere: number;
  /** Events that the sink did not take. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. */
  readonly faults: number;
}

export const DEFAULT_OPEN_CALLS = 100_000;
export const DEFAULT_PAUSED_THREADS = 10_000;

/** @throws RangeError when a limit is not a whole number from 1. */
export function limitOf(name: string, given: number | undefined, otherwise: number): number {
  const value = given ?? otherwise;
  checkWhole(value, `limits.${name}`, 1);
  return value;
}

/** @throws TypeError when an option is of another type; `tenant` and the limits are checked where they are used. */
export function checkHandlerOptions(options: LangChainHandlerOptions): void {
  checkOptionsObject(options);
  checkGiven(options.sink, "sink", "send");
  checkText(options.agent, "agent");
  checkFunction(options.context, "context");
  checkFunction(options.isFailure, "isFailure");
  checkFunction(options.price, "price");
  checkFunction(options.decidedBy, "decidedBy");
  checkFunction(options.onError, "onError");
  checkOneOf(options.loneCalls, "loneCalls", ["run", "skip"]);
  checkObject(options.limits, "limits");
}

/** Whose runs those of an invocation are. */
export class Tenants {
  readonly #given: LangChainHandlerOptions["tenant"];

  constructor(given: LangChainHandlerOptions["tenant"]) {
    checkTenant(given);
    this.#given = given;
  }

  /** What the invocation itself says, where that counts. */
  explicit(metadata: Fields | undefined): string | undefined {
    return typeof this.#given === "string" ? textOf(metadata?.tenant_id) : undefined;
  }

  /** @throws TypeError when the function gives no text, and whatever it throws itself. */
  of(metadata: Fields | undefined): string {
    if (typeof this.#given === "string") return this.explicit(metadata) ?? this.#given;
    return tenantOf(this.#given, metadata ?? {});
  }
}
