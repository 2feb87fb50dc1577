import type { Instant } from "../../../../src/entries/events.ts";
import { millisecondsBetween, readTimestamp, type Signal } from "../../../../src/events/door.ts";
import type { ProjectedRow } from "../../../../src/replay/dialects/mapping.ts";
import { flat } from "./flat.ts";
import type { Recording } from "./recordings.ts";

/**
 * Signals and rows as short JSON: the time in ms since the recording began, the run by its last four
 * digits, then what is said.
 */
export function written(
  { from }: Recording,
  signals: readonly Signal[],
  rows: readonly (ProjectedRow & { readonly threadId: string | undefined })[],
) {
  return {
    signals: signals.map((signal) => {
      const said = flat(signal);
      return plain([
        millisecondsBetween(from, signal.at),
        signal.runId.slice(-4),
        signal.signal,
        said,
      ]);
    }),
    rows: rows.map(({ event: { kind, timestamp, ...said }, runId, threadId }) =>
      plain([msOf(String(timestamp), from), runId.slice(-4), threadId ?? null, kind, said]),
    ),
  };
}

function msOf(timestamp: string, from: Readonly<Instant>): number {
  const at = readTimestamp(timestamp);
  if (at === undefined) throw new TypeError(timestamp);
  return millisecondsBetween(from, at);
}

/** As JSON has it: without fields that are not set. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
