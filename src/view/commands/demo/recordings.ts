import { readFile } from "node:fs/promises";
import { v7 } from "uuid";
import { InFlight } from "../../../cli/door.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  addMilliseconds,
  type EventEnvelope,
  formatRfc3339,
  type Instant,
  readTimestamp,
  toMilliseconds,
} from "../../../events/door.ts";
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

/** The conversations of `examples/support`, recorded from that program. */
export const SUPPORT_AGENT = "support/events";

const RUN_ID = /"run_id":"([^"]+)"/g;

/** Gaps between events are 12 times as long as recorded, because the runs took only some 10 ms each. */
const STRETCH = 12;

interface RecordedEvent {
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
  /** When it was recorded, in ms. */
  readonly atMs: number;
}

/** Plays recordings with new run IDs, event IDs and times, so that each demo makes new traces. */
export class RecordingPlayer {
  /** New run ID by recorded one: a resumed run and its paused run are in two recordings. */
  readonly #runIds = new Map<string, string>();
  readonly #sink: AgentEventSink;

  constructor(sink: AgentEventSink) {
    this.#sink = sink;
  }

  /**
   * Sends the events of a short recording as if it had begun at this time, and waits until their rows are stored.
   *
   * @throws (rejects) Error with file and line where the recording is damaged.
   */
  async playFrom(begin: Readonly<Instant>, file: string): Promise<void> {
    const events = await this.#read(file);
    const firstMs = events[0]?.atMs ?? 0;
    await this.#send(events, (ms) => addMilliseconds(begin, (ms - firstMs) * STRETCH));
  }

  /** Does the same with the times between events as they were recorded, and the last event at this time. */
  async playUntil(end: Readonly<Instant>, file: string): Promise<void> {
    const events = await this.#read(file);
    const lastMs = events.at(-1)?.atMs ?? 0;
    await this.#send(events, (ms) => addMilliseconds(end, ms - lastMs));
  }

  async #send(
    events: readonly RecordedEvent[],
    movedTo: (recordedMs: number) => Instant,
  ): Promise<void> {
    const stored = new InFlight();
    for (const { atMs, envelope, event } of events) {
      const row = this.#sink.send(event, {
        ...moved(envelope, movedTo),
        event_id: v7(),
        timestamp: movedTo(atMs),
      });
      if (row !== undefined) stored.add(row);
    }
    await stored.settle();
  }

  async #read(file: string): Promise<RecordedEvent[]> {
    const path = packageFile("recordings", `${file}.ndjson`);
    const lines = this.#renamed(await readFile(path, "utf8"))
      .trimEnd()
      .split("\n");
    return lines.map((line, at) => {
      const { value } = parseLine(line);
      const decoded = value === undefined ? undefined : entelixDialect.decode(value);
      if (decoded?.outcome !== "event") {
        throw new Error(`${path}:${at + 1}: expected an event; install the package again`);
      }
      const { envelope, event } = decoded;
      return { event, envelope, atMs: toMilliseconds(envelope.timestamp) };
    });
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

/** The envelope with the other time in it moved: when an event happened that was sent later. */
function moved(envelope: EventEnvelope, movedTo: (recordedMs: number) => Instant): EventEnvelope {
  const { details } = envelope;
  const happened =
    details?.happened_at === undefined ? undefined : readTimestamp(details.happened_at);
  if (happened === undefined) return envelope;
  return {
    ...envelope,
    details: { ...details, happened_at: formatRfc3339(movedTo(toMilliseconds(happened))) },
  };
}
