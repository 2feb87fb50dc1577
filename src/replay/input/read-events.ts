import { inputBytes } from "../../audit/door.ts";
import {
  checkArgument,
  checkEach,
  checkedElsewhere,
  checkFunction,
  checkText,
  describe,
  nested,
  type OptionChecks,
} from "../../events/door.ts";
import type { ByteSource } from "./byte-source.ts";
import { EventIntake, type SourceOptions, type SourceReport } from "./event-intake.ts";
import { EventOrder, type EventTakers, type OrderReport } from "./event-order.ts";
import { readNdjson } from "./ndjson-reader.ts";
import { type ReorderBufferOptions, WINDOW_CHECKS } from "./reorder-buffer.ts";

/** Options of {@link readEvents}. */
export interface ReadEventsOptions<E> extends SourceOptions<E>, EventTakers<E> {
  /** How far back events are reordered. */
  readonly window?: ReorderBufferOptions | undefined;
}

/** The result of {@link readEvents}. */
export interface ReadReport extends SourceReport, OrderReport {}

/** The source failed before its end. Everything read before was delivered. */
export class SourceReadError extends Error {
  override readonly name = "SourceReadError";
  /** The counts up to the failure. */
  readonly report: ReadReport;

  constructor(name: string, error: Error, report: ReadReport) {
    checkArgument(error, "error");
    const { cause, message } = error;
    super(`${name}: cannot be read to its end: ${message}`, { cause });
    this.report = report;
  }
}

/** The source failed, as opposed to a callback. */
class Unreadable extends Error {}

/**
 * Reads a source of events to its end: splits lines, parses, checks, orders and delivers them. A bad line is reported
 * and rejected. Memory is bounded by the line limit and the reorder buffer, not by the size of the source.
 *
 * @param source path of a file, or bytes. Gzip is recognised.
 * @throws SourceReadError if the source cannot be read to its end; RangeError if a limit is not a whole number in its
 *   range; errors of callbacks, unchanged.
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
  given: ReadEventsOptions<E>,
): Promise<ReadReport> {
  const options = checkEach<ReadEventsOptions<E>>(given, CHECKS);
  const isPath = typeof source === "string" || source instanceof URL;
  if (!isPath) checkSource(source);
  const name = options.name ?? (isPath ? String(source) : "input");
  const order = new EventOrder(options, options.window);
  // The file is opened when its first byte is read, so not if an option is wrong.
  const bytes = isPath ? inputBytes(source) : source;
  const intake = new EventIntake({ ...options, name }, order);
  const cut = await readSource(bytes, intake);
  await order.release();
  const report = { ...intake.report(), ...order.report() };
  if (cut === undefined) return report;
  throw new SourceReadError(name, cut, report);
}

/**
 * Reads a source to its end. Its last events wait in the order of the intake.
 *
 * @returns the error if the source cannot be read to its end.
 * @throws errors of callbacks.
 */
export async function readSource<E>(
  bytes: ByteSource,
  intake: EventIntake<E>,
): Promise<Error | undefined> {
  const { maxLineBytes } = intake;
  let cut: Error | undefined;
  try {
    for await (const batch of withReadErrors(readNdjson(bytes, { maxLineBytes }))) {
      for (const part of batch) {
        const busy = intake.take(part);
        if (busy !== undefined) await busy;
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    cut = error;
  }
  await intake.end();
  return cut;
}

async function* withReadErrors<T>(batches: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* batches;
  } catch (error) {
    throw new Unreadable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function checkSource(source: ByteSource): void {
  if (typeof source === "object" && source !== null) {
    if (Symbol.asyncIterator in source || Symbol.iterator in source) return;
  }
  throw new TypeError(`source: expected a path or a stream of bytes, got ${describe(source)}`);
}

const CHECKS: OptionChecks<ReadEventsOptions<unknown>> = {
  dialects(given) {
    if (Array.isArray(given) && given.length > 0) return;
    throw new TypeError(`dialects: expected a list of dialects, got ${describe(given)}`);
  },
  name: checkText,
  maxLineBytes: checkedElsewhere,
  onIssue: checkFunction,
  onRejected: checkFunction,
  onUnknown: checkFunction,
  onEvent: checkFunction,
  onActivity: checkFunction,
  window: nested(WINDOW_CHECKS),
};
