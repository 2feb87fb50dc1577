import { type AgentEventSink, tellHook } from "../../events/door.ts";
import { SafeSink } from "../core/safe-sink.ts";
import { type McpCounts, type MutableCounts, noCounts } from "./counts.ts";

/** Counts, errors and sinks of one wrapped client or server. */
export class Reporter {
  readonly counts: MutableCounts = noCounts();
  readonly #onError: ((error: unknown) => void) | undefined;
  /** Each run has its own sink: a client may be used by runs of several. */
  readonly #sinks = new WeakMap<object, SafeSink>();

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError;
  }

  sinkOf(sink: AgentEventSink): SafeSink {
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const onError = (error: unknown) => {
      this.counts.sinkFailures += 1;
      tellHook(this.#onError, error);
    };
    const made = new SafeSink({ sink, onError });
    this.#sinks.set(sink, made);
    return made;
  }

  /** Something went wrong that the SDK must not notice. */
  readonly troubled = (error: unknown): void => {
    this.counts.troubles += 1;
    tellHook(this.#onError, error);
  };
}

/** The counts by what was wrapped. One for the process, should this package be loaded twice. */
const COUNTS: unique symbol = Symbol.for("entelix-otel.mcp-counts.v1");

/** Marks an object as wrapped. */
export function keepCounts(wrapped: object, { counts }: Reporter): void {
  Object.defineProperty(wrapped, COUNTS, { value: counts, configurable: true });
}

/**
 * What was reported of a client or server that `mcpClient` or `mcpServer` wrapped, and what was not.
 * `undefined` for any other object.
 */
export function mcpCounts(wrapped: object): McpCounts | undefined {
  const counts: unknown = Reflect.get(wrapped, COUNTS);
  return isCounts(counts) ? { ...counts } : undefined;
}

function isCounts(value: unknown): value is McpCounts {
  return typeof value === "object" && value !== null && "reported" in value;
}
