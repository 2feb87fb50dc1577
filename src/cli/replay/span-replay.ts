import { type FinishedSpan, SpanBatches, type SpanTarget } from "../../bridge/door.ts";
import type { LineIssue, RejectedLine } from "../../replay/door.ts";
import { messageOf } from "../cli-error.ts";
import { DEEPEST_ATTRIBUTE, type Fields, isTooDeep, readSpan } from "../traces/otlp-spans.ts";
import { RAW_SPANS, type RawSpan, scopedSpansOf } from "../traces/raw-spans.ts";
import { type RequestLine, requestLines } from "../traces/span-requests.ts";

interface SpanReplayOptions {
  readonly targets: readonly SpanTarget[];
  /** Sees each span. */
  readonly observe: (span: FinishedSpan) => void;
  readonly onIssue: (issue: LineIssue) => void;
  readonly onRejected: ((rejected: RejectedLine) => Promise<void>) | undefined;
}

/** Replays files of spans: the identical spans go to the targets, in their order. */
export class SpanReplay {
  /** Lines that have no request, or a span that cannot be read. */
  rejected = 0;
  /** Errors in these lines, by field. */
  readonly rejectedFields = new Map<string, number>();
  readonly #options: SpanReplayOptions;
  readonly #batches: SpanBatches<RawSpan>;

  constructor(options: SpanReplayOptions) {
    this.#options = options;
    this.#batches = new SpanBatches(options.targets, RAW_SPANS);
  }

  /**
   * Reads a source to its end. Its spans are with the targets then.
   *
   * @param chunks UTF-8 text.
   * @returns why the source cannot be read to its end. Earlier lines are replayed.
   * @throws (rejects) with the error of a target.
   */
  async read(name: string, chunks: AsyncIterable<Buffer>): Promise<string | undefined> {
    const lines = requestLines(chunks);
    const cut = (error: unknown) => `${name}: cannot be read to its end: ${messageOf(error)}`;
    for (;;) {
      const next = await lines.next().catch(cut);
      if (typeof next !== "string" && next.done !== true) {
        await this.#take(name, next.value);
        continue;
      }
      await this.#batches.drain();
      return typeof next === "string" ? next : undefined;
    }
  }

  async #take(name: string, { expected, part, request }: RequestLine): Promise<void> {
    if (request === undefined) {
      if (expected !== undefined) this.#report(name, part.line, "line", expected);
    } else if (!(await this.#takeSpans(name, part.line, request))) return;
    const last = !part.oversized || part.last;
    if (last) this.rejected += 1;
    await this.#options.onRejected?.({ line: part.line, bytes: part.bytes, last });
  }

  /** @returns whether a span of the request cannot be read. The others are replayed. */
  async #takeSpans(name: string, line: number, request: Fields): Promise<boolean> {
    let isDamaged = false;
    const spans = scopedSpansOrProblem(request);
    if (typeof spans === "string") {
      this.#report(name, line, "line", spans);
      return true;
    }
    for (const raw of spans) {
      const span = readOrProblem(raw.span);
      if (typeof span === "string") {
        isDamaged = true;
        this.#report(name, line, "span", span);
        continue;
      }
      this.#options.observe(span);
      this.#batches.add(raw, roughBytes(span));
      if (this.#batches.full) await this.#batches.drain();
    }
    return isDamaged;
  }

  #report(file: string, line: number, field: string, expected: string): void {
    this.rejectedFields.set(field, (this.rejectedFields.get(field) ?? 0) + 1);
    this.#options.onIssue({ file, line, field, expected });
  }
}

/** Fields whose values are read one by one. Others are passed on as they are. */
const READ: ReadonlySet<string> = new Set(["attributes", "events", "links"]);

/** @returns the spans, or the expectation that their resources and scopes do not meet. */
function scopedSpansOrProblem(request: Fields): readonly RawSpan[] | string {
  try {
    return [...scopedSpansOf(request)];
  } catch (error) {
    return `resources and scopes that can be read: ${messageOf(error)}`;
  }
}

/** @returns the span, or the expectation that it does not meet. */
function readOrProblem(raw: Fields): FinishedSpan | string {
  try {
    const deep = Object.keys(raw).find((name) => !READ.has(name) && isTooDeep(raw[name]));
    if (deep !== undefined) return `at most ${DEEPEST_ATTRIBUTE} levels in ${deep}`;
    return readSpan(raw) ?? "IDs of 32 and 16 hex digits, a start and an end in nanoseconds";
  } catch (error) {
    return `attributes that can be read: ${messageOf(error)}`;
  }
}

/** The texts of its attributes, which are most of a large span. */
function roughBytes({ attributes }: FinishedSpan): number {
  let bytes = 0;
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === "string") bytes += value.length;
  }
  return bytes;
}
