import type { ViewSpan } from "../format.ts";
import { LineSpool, type TaggedLine } from "./line-spool.ts";
import type { Trace } from "./traces.ts";

/** A span, and the number of its source. */
export interface SourcedSpan {
  readonly span: ViewSpan;
  readonly source: number;
}

/** Spans in one file, as JSON lines. Those of a trace are a chain. */
export class SpanSpool {
  readonly #lines: LineSpool;

  /** Length of the file, without the batch in memory. */
  get bytes(): number {
    return this.#lines.bytes;
  }

  /** @param path of a file that does not exist yet, in a folder that only its owner can read. */
  constructor(path: string) {
    this.#lines = new LineSpool(path);
  }

  add(span: ViewSpan, source: number, trace: Trace): void {
    trace.isStored = true;
    this.#lines.add(JSON.stringify(span), source, trace);
  }

  /** Writes the batch in memory. */
  flush(): void {
    this.#lines.flush();
  }

  /** The spans of a trace, in the order in which they came. */
  read(trace: Trace): SourcedSpan[] {
    return this.#lines.read(trace).map(spanIn);
  }

  /**
   * Copies the spans of some traces to another file, where their next spans must be added.
   *
   * @param mostBytes above which the oldest spans of the longest traces are left out.
   * @returns the number of spans that were left out.
   */
  copyTo(other: SpanSpool, traces: Iterable<Trace>, mostBytes: number): number {
    return this.#lines.copyTo(other.#lines, traces, mostBytes);
  }

  /** All spans, in about the order in which they came. */
  *all(): Generator<SourcedSpan> {
    for (const line of this.#lines.all()) yield spanIn(line);
  }

  close(): void {
    this.#lines.close();
  }
}

/** A line that this process wrote. */
function spanIn({ line, tag }: TaggedLine): SourcedSpan {
  const span: ViewSpan = JSON.parse(line);
  return { span, source: tag };
}
