import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { v7 } from "uuid";
import type { Bridge } from "../../../bridge/door.ts";
import { InFlight } from "../../../cli/door.ts";
import { addMilliseconds, now, toMilliseconds } from "../../../events/door.ts";
import { entelixDialect, parseLine } from "../../../replay/door.ts";
import { packageFile } from "../page-files.ts";

/** A file in `recordings/`. The README of that folder says where each comes from. */
export interface BundledRecording {
  readonly file: string;
  readonly title: string;
  /** Whether it was written by hand because no real agent was recorded doing this. */
  readonly constructed: boolean;
}

export const BUNDLED_RECORDINGS: readonly BundledRecording[] = [
  recorded("success", "Three tool calls"),
  recorded("tool_error", "A tool fails, the run goes on"),
  recorded("tool_error_terminal", "A tool fails for good"),
  recorded("model_failure", "The model is down"),
  recorded("nested_subagent", "A sub-agent"),
  recorded("approval", "One call approved, one denied"),
  recorded("pause", "Waits for an approval"),
  { file: "resume", title: "Approved: goes on as a new run", constructed: true },
  recorded("cancelled", "Cancelled"),
  recorded("two_tenants", "Two tenants at once"),
];

function recorded(file: string, title: string): BundledRecording {
  return { file, title, constructed: false };
}

const RUN_ID = /"run_id":"([^"]+)"/g;

/** Gaps between events are 12 times as long as recorded, because the runs took only some 10 ms each. */
const STRETCH = 12;

/** Plays recordings with new run IDs, event IDs and times, so that each demo makes new traces. */
export class RecordingPlayer {
  /** New run ID by recorded one: a resumed run and its paused run are in two recordings. */
  readonly #runIds = new Map<string, string>();
  readonly #bridge: Bridge;
  readonly #signal: AbortSignal;

  /** @param signal stops between two events. */
  constructor(bridge: Bridge, signal: AbortSignal) {
    this.#bridge = bridge;
    this.#signal = signal;
  }

  /**
   * Sends the events of a recording in real time, and waits until their rows are stored.
   *
   * @returns whether it was played to its end; `false` where the signal was aborted.
   * @throws (rejects) Error with file and line where the recording is damaged.
   */
  async play(file: string): Promise<boolean> {
    const path = packageFile("recordings", `${file}.ndjson`);
    const lines = this.#renamed(await readFile(path, "utf8"))
      .trimEnd()
      .split("\n");
    const stored = new InFlight();
    const begin = now();
    let firstMs: number | undefined;
    for (const [at, line] of lines.entries()) {
      const { value } = parseLine(line);
      const decoded = value === undefined ? undefined : entelixDialect.decode(value);
      if (decoded?.outcome !== "event") {
        throw new Error(`${path}:${at + 1}: expected an event; install the package again`);
      }
      const { envelope, event } = decoded;
      const recordedMs = toMilliseconds(envelope.timestamp);
      firstMs ??= recordedMs;
      const timestamp = addMilliseconds(begin, (recordedMs - firstMs) * STRETCH);
      const waitMs = toMilliseconds(timestamp) - toMilliseconds(now());
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) break;
      const row = this.#bridge.send(event, { ...envelope, event_id: v7(), timestamp });
      if (row !== undefined) stored.add(row);
    }
    await stored.settle();
    return !this.#signal.aborted;
  }

  #renamed(text: string): string {
    for (const [, runId = ""] of text.matchAll(RUN_ID)) {
      if (!this.#runIds.has(runId)) this.#runIds.set(runId, v7());
    }
    let renamed = text;
    for (const [recorded, fresh] of this.#runIds) renamed = renamed.replaceAll(recorded, fresh);
    return renamed;
  }
}
