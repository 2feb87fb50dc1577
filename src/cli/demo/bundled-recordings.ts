import { readFile } from "node:fs/promises";
import type { LineEnvelope } from "../../dialects/dialect.ts";
import { entelixDialect } from "../../dialects/entelix/entelix-dialect.ts";
import type { AgentEvent } from "../../events/agent-event.ts";
import { parseLine } from "../../ingest/decode-line.ts";
import { packageFile } from "../package-file.ts";

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
