import { type AgentEventSink, property } from "../../events/door.ts";
import { type AdapterCounts, Containment, SafeSink } from "../core/door.ts";

/** Counts, errors and sinks of one wrapped client or server. */
export class Reporter extends Containment {
  readonly counts: MutableCounts = noCounts();
  /** A client may be used by runs with different sinks. */
  readonly #sinks = new WeakMap<object, SafeSink>();

  sinkOf(sink: AgentEventSink): SafeSink {
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const onError = (error: unknown) => {
      this.counts.sinkFailures += 1;
      this.report(error);
    };
    const made = new SafeSink({ sink, onError });
    this.#sinks.set(sink, made);
    return made;
  }
}

/** A global symbol, so that several loaded copies of this package share it. */
const COUNTS: unique symbol = Symbol.for("entelix-otel.mcp-counts.v1");

/** Marks an object as wrapped. */
export function keepCounts(wrapped: object, reporter: Reporter): void {
  const get = (): McpCounts => ({ ...reporter.counts, faults: reporter.faults });
  Object.defineProperty(wrapped, COUNTS, { get, configurable: true });
}

/** Counts of a client or server that `mcpClient` or `mcpServer` wrapped. `undefined` for any other object. */
export function mcpCounts(wrapped: object): McpCounts | undefined {
  const counts = property(wrapped, COUNTS);
  return isCounts(counts) ? counts : undefined;
}

function isCounts(value: unknown): value is McpCounts {
  return typeof value === "object" && value !== null && "reported" in value;
}

/** Counts of a wrapped client or server. All start at 0. */
export interface McpCounts extends AdapterCounts {
  /** Calls that were reported: as tool calls of a run, or as runs of a server. */
  readonly reported: number;
  /** Calls that a framework's adapter reports. They have no span of their own. */
  readonly shownElsewhere: number;
  /** Calls outside any run, with `loneCalls: "skip"` or without `sink` and `tenant`. */
  readonly skipped: number;
  /** Calls without a known tenant. */
  readonly refused: number;
  /** Requests of a server that could belong to any of several open calls. */
  readonly unplaced: number;
  /** Runs of a server that were forgotten because too many are open. */
  readonly forgotten: number;
}

export type MutableCounts = { -readonly [Name in Exclude<keyof McpCounts, "faults">]: number };

export function noCounts(): MutableCounts {
  return {
    reported: 0,
    shownElsewhere: 0,
    skipped: 0,
    refused: 0,
    unplaced: 0,
    forgotten: 0,
    sinkFailures: 0,
  };
}
