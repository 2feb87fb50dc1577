import { readFile } from "node:fs/promises";
import { v7 } from "uuid";
import { packageFile } from "../../../cli/door.ts";
import {
  type AgentEvent,
  addMilliseconds,
  type EventEnvelope,
  type Instant,
  toMilliseconds,
} from "../../../events/door.ts";
import { entelixDialect, type LineEnvelope, parseLine } from "../../../replay/door.ts";

/** One of the recordings in `recordings/`. Its README says where each comes from. */
export interface BundledRecording {
  readonly file: string;
  readonly title: string;
  /** Written by hand, since no real agent was recorded doing it. */
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

/** One event of a recording. */
export interface RecordedEvent {
  readonly event: AgentEvent;
  readonly envelope: LineEnvelope;
}

/**
 * Reads a recording.
 *
 * @param rename replaces the run ids in the text.
 * @throws Error naming the file when it is damaged: it comes with the package.
 */
export async function readRecording(
  { file }: BundledRecording,
  rename: (text: string) => string,
): Promise<RecordedEvent[]> {
  const path = packageFile("recordings", `${file}.ndjson`);
  const text = rename(await readFile(path, "utf8"));
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, at) => {
      const { value } = parseLine(line);
      const decoded = value === undefined ? undefined : entelixDialect.decode(value);
      if (decoded?.outcome === "event") return decoded;
      throw new Error(`${path}:${at + 1}: expected an event; install the package again`);
    });
}

function recorded(file: string, title: string): BundledRecording {
  return { file, title, constructed: false };
}

const RUN_ID = /"run_id":"([^"]+)"/g;

/**
 * New run ids in place of the recorded ones, so that every demo makes traces of its own. The same
 * recorded id becomes the same new one wherever it stands: as a parent, as the run that is resumed,
 * in a payload, in another recording.
 */
export class FreshRunIds {
  readonly #fresh = new Map<string, string>();

  /** The text of a recording with new run ids. */
  rename(text: string): string {
    for (const [, runId = ""] of text.matchAll(RUN_ID)) {
      if (!this.#fresh.has(runId)) this.#fresh.set(runId, v7());
    }
    let renamed = text;
    for (const [recorded, fresh] of this.#fresh) renamed = renamed.replaceAll(recorded, fresh);
    return renamed;
  }
}

/** The recorded runs last some ten milliseconds: too short to be watched. */
const STRETCH = 12;
/** From the start of one recording to that of the next, in ms. */
const STAGGER_MS = 380;

/** One event, and when it is to be sent. */
export interface PlannedEvent {
  /** Index of its recording. */
  readonly recording: number;
  /** Milliseconds after the beginning. */
  readonly afterMs: number;
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
}

/**
 * When each event of each recording is sent: the recordings begin one after the other and overlap,
 * the recorded gaps are kept (stretched), the times are those of now, the event ids are new.
 */
export function planPlay(
  recordings: readonly (readonly RecordedEvent[])[],
  begin: Readonly<Instant>,
): PlannedEvent[] {
  const plan: PlannedEvent[] = [];
  for (const [recording, events] of recordings.entries()) {
    const first = events[0]?.envelope.timestamp ?? begin;
    for (const { event, envelope } of events) {
      const gapMs = toMilliseconds(envelope.timestamp) - toMilliseconds(first);
      const afterMs = recording * STAGGER_MS + gapMs * STRETCH;
      const timestamp = addMilliseconds(begin, afterMs);
      plan.push({
        recording,
        afterMs,
        event,
        envelope: { ...envelope, event_id: v7(), timestamp },
      });
    }
  }
  return plan.sort((a, b) => a.afterMs - b.afterMs);
}
