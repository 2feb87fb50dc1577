import { inputBytes } from "../storage/open-input.ts";
import type { ByteSource } from "./byte-source.ts";
import { EventIntake, type ReadEventsOptions, type ReadReport } from "./event-intake.ts";
import { DEFAULT_MAX_LINE_BYTES, readNdjson } from "./ndjson-reader.ts";

/** The source failed before its end. What was read until then was delivered. */
export class SourceReadError extends Error {
  override readonly name = "SourceReadError";
  /** What was read until then. */
  readonly report: ReadReport;

  constructor(message: string, report: ReadReport, options?: ErrorOptions) {
    super(message, options);
    this.report = report;
  }
}

/** The source gave no more, as opposed to a callback that threw. */
class Unreadable extends Error {}

/**
 * Reads a source of events to its end: splits lines, parses, checks, puts in order, delivers. A bad
 * line is reported and rejected; the rest goes on. Memory is bounded by the line limit and the order
 * window, whatever the size of the source.
 *
 * @param source path of a file, or bytes; gzip is recognised.
 * @throws SourceReadError when the source cannot be read (on); what a callback throws, unchanged;
 *   RangeError when a limit is no whole number in its range.
 *
 * @example
 * const report = await readEvents("events.ndjson", {
 *   dialects: [entelixDialect],
 *   onEvent: ({ event, envelope }) => sink.send(event, envelope),
 *   onIssue: (issue) => console.error(formatIssue(issue)),
 * });
 */
export async function readEvents<E>(
  source: string | URL | ByteSource,
  options: ReadEventsOptions<E>,
): Promise<ReadReport> {
  const isPath = typeof source === "string" || source instanceof URL;
  const name = options.name ?? (isPath ? String(source) : "input");
  // Opened when the first byte is asked for, and so not where an option is wrong.
  const bytes = isPath ? inputBytes(source) : source;
  const maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  const intake = new EventIntake(options, name, maxLineBytes);
  try {
    for await (const batch of toldApart(readNdjson(bytes, { maxLineBytes }))) {
      for (const part of batch) {
        const busy = intake.take(part);
        if (busy !== undefined) await busy;
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    await intake.end();
    const reason = `${name}: cannot be read to its end: ${error.message}`;
    throw new SourceReadError(reason, intake.report(), { cause: error.cause });
  }
  await intake.end();
  return intake.report();
}

async function* toldApart<T>(batches: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* batches;
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
