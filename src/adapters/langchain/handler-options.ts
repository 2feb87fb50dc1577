import {
  checkFunction,
  checkGiven,
  checkObject,
  checkOneOf,
  checkOptionsObject,
  checkWhole,
} from "../../events/option-checks.ts";
import type { InnerSink } from "../../sinks/agent-event-sink.ts";
import { type Fields, textOf } from "../narrow.ts";

/** Bounds of what a handler remembers. Each has a count in the handler's `counts` when it bites. */
export interface HandlerLimits {
  /**
   * Calls of LangChain's open at once; beyond it the oldest is forgotten. The first handler of a sink
   * decides. Default 100,000.
   */
  readonly openCalls?: number | undefined;
  /**
   * Threads whose pause is remembered, to link their resumption, at least; at most twice as many. The
   * first handler of a sink decides. Default 10,000.
   */
  readonly pausedThreads?: number | undefined;
}

/** Where the events go, and whose they are. */
export interface LangChainHandlerOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * Whose runs these are. A text holds for every invocation whose metadata has no `tenant_id`; a
   * function is asked once for each outermost invocation, and its answer alone counts. Where it
   * throws, or answers with anything but text, no event of that invocation is sent (`counts.refused`).
   */
  readonly tenant: string | ((metadata: Readonly<Record<string, unknown>>) => string);
  /** Called with what the sink threw, and with faults in the handler. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * A model or tool that is called without a chain, graph or run around it: `run` makes one of its
   * name, `skip` sends nothing. Default `run`.
   */
  readonly loneCalls?: "run" | "skip" | undefined;
  readonly limits?: HandlerLimits | undefined;
}

/** Counts of what a handler did not, or could not, send. */
export interface HandlerCounts {
  /** Starts that were seen before: the handler, or another one of its sink, is registered twice. */
  readonly duplicates: number;
  /** Ends without a start: seen twice, forgotten, or skipped. */
  readonly unmatched: number;
  /** What happened in a run after its end. */
  readonly late: number;
  /** Open calls that were forgotten beyond `limits.openCalls`. */
  readonly forgotten: number;
  /** Pauses that were forgotten beyond `limits.pausedThreads`. */
  readonly threadsForgotten: number;
  /** Outermost invocations whose tenant is not known. */
  readonly refused: number;
  /** Models and tools called alone, with `loneCalls: "skip"`. */
  readonly skipped: number;
  /** Tool calls that another instrumentation shows: the run's own tool call is open around them. */
  readonly shownElsewhere: number;
  /** Retrievers: there is no event for them. */
  readonly retrievers: number;
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
  checkFunction(options.onError, "onError");
  checkOneOf(options.loneCalls, "loneCalls", ["run", "skip"]);
  checkObject(options.limits, "limits");
}

/** Whose runs those of an invocation are. */
export class Tenants {
  readonly #given: LangChainHandlerOptions["tenant"];

  constructor(given: LangChainHandlerOptions["tenant"]) {
    if (typeof given !== "function" && textOf(given) === undefined) {
      throw new TypeError("tenant: expected text that is not empty, or a function that gives it");
    }
    this.#given = given;
  }

  /** What the invocation itself says, where that counts. */
  explicit(metadata: Fields | undefined): string | undefined {
    return typeof this.#given === "string" ? textOf(metadata?.tenant_id) : undefined;
  }

  /** @throws TypeError when the function gives no text, and whatever it throws itself. */
  of(metadata: Fields | undefined): string {
    if (typeof this.#given === "string") return this.explicit(metadata) ?? this.#given;
    const tenant: unknown = this.#given(metadata ?? {});
    if (typeof tenant === "string" && tenant !== "") return tenant;
    throw new TypeError(`tenant: expected the function to give text, got ${typeof tenant}`);
  }
}
