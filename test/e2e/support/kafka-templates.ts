import { parseExact, stringifyExact } from "../../../src/entries/events.ts";
import type { JsonObject } from "../../../src/entries/replay.ts";
import { readTimestamp } from "../../../src/events/door.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { STREAMS } from "../../replay/dialects/agent-sdk/golden-lines.ts";
import { recordedLines, recordings } from "../../replay/dialects/defect/recordings.ts";
import { readLines } from "../../support/golden.ts";

/** What differs each time that a recorded stream is played again. */
export type Slot =
  | { readonly slot: "uuid"; readonly index: number; readonly recorded: string }
  | { readonly slot: "suffix" }
  | { readonly slot: "time" };

export interface TemplateLine {
  /** After the stream's first line, in ms. */
  readonly afterMs: number;
  readonly parts: readonly (string | Slot)[];
}

/** A recorded stream that can be played any number of times, each time as another run. */
export interface Template {
  readonly name: string;
  readonly dialect: string;
  readonly lines: readonly TemplateLine[];
  /** By what its records are keyed: a fresh UUID, or a name with the suffix. */
  readonly key: readonly (string | Slot)[];
  /** Whether its tenant is said by a header: its events do not say it. */
  readonly tenantByHeader: boolean;
}

interface Source {
  readonly name: string;
  readonly dialect: string;
  readonly lines: readonly JsonObject[];
  /** Field of the first line whose value is the key. */
  readonly keyed: "run_id" | "thread_id" | "session_id";
}

/** A stream takes no longer than that, in ms: what is open holds back the commits. */
const LONGEST_MS = 2_000;

/** Recorded streams of all four runtimes, those that do not tell their end among them. */
export function templates(): Template[] {
  return sources().map(template);
}

function sources(): Source[] {
  return [
    ...[
      ["approval"],
      ["cancelled"],
      ["model_failure"],
      ["nested_subagent"],
      ["success"],
      ["tool_error"],
      ["tool_error_terminal"],
      // One thread: its rows are one chain, so its runs are one stream.
      ["pause", "resume"],
    ].map(
      (names): Source => ({
        name: names.join("+"),
        dialect: "entelix",
        lines: names.flatMap((name) => objects(`../recordings/${name}.ndjson`)),
        keyed: names.length > 1 ? "thread_id" : "run_id",
      }),
    ),
    ...STREAMS.map(({ name, lines }): Source => {
      // The recorder of a thread knows which one it is; not each of its events says so.
      const thread = lines.find((line) => line.thread_id !== undefined)?.thread_id ?? name;
      const threaded = lines.map((line) => ({ thread_id: thread, ...line }));
      return { name, dialect: "agent-sdk", lines: threaded, keyed: "thread_id" };
    }),
    ...recordings().map((recording): Source => {
      const { name, session = `session-of-${name}` } = recording;
      const lines = recordedLines({ ...recording, session }).map(identified);
      return { name, dialect: "defect", lines, keyed: "session_id" };
    }),
    graphSource("graph_sub_agents", objects("streams/graph_sub_agents.ndjson")),
    graphSource("graph_turns", objects("streams/graph_turns.ndjson")),
    ...byThread(objects("streams/graph_endings.ndjson")),
  ];
}

function byThread(lines: readonly JsonObject[]): Source[] {
  const threads = new Map<string, JsonObject[]>();
  for (const line of lines) {
    const thread = String(line.thread_id);
    const others = threads.get(thread);
    if (others === undefined) threads.set(thread, [line]);
    else others.push(line);
  }
  return [...threads].map(([thread, own]) => graphSource(thread, own));
}

/** All threads of it are one stream: a thread and those of its sub-agents belong together. */
function graphSource(name: string, recorded: readonly JsonObject[]): Source {
  const lines = recorded.map((line, at) => {
    const { event = line, ...envelope } = line;
    const bare = line.event === undefined;
    const timestamp = (isJsonObject(event) ? event.timestamp : undefined) ?? null;
    const own = bare ? { thread_id: name, tenant_id: "acme" } : envelope;
    return identified({ timestamp, ...own, event }, at);
  });
  return { name, dialect: "graph", lines, keyed: "thread_id" };
}

let identifiers = 0;

/** With an event id, where the runtime has none: else a redelivery is told by its content alone. */
function identified(line: JsonObject, sequence: number): JsonObject {
  const serial = String(identifiers++).padStart(12, "0");
  return { event_id: `6f6f6f6f-0000-4000-8000-${serial}`, sequence, ...line };
}

function objects(path: string): JsonObject[] {
  return readLines(path).map((text) => {
    const value = parseExact(text);
    if (!isJsonObject(value)) throw new TypeError(`${path}: expected objects`);
    return value;
  });
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const SLOT = new RegExp(
  `("timestamp":")[^"]+(")|("(?:thread_id|session_id|child_thread|child_thread_id|sub_thread_id)":"[^"]+)(")|(${UUID.source})`,
);

function template({ name, dialect, lines, keyed }: Source): Template {
  const uuids = new Map<string, number>();
  const indexOf = (recorded: string) => {
    const index = uuids.get(recorded) ?? uuids.size;
    uuids.set(recorded, index);
    return index;
  };
  const first = millisecondsOf(lines[0]);
  const last = Math.max(...lines.map(millisecondsOf));
  const scale = Math.min(1, LONGEST_MS / Math.max(1, last - first));
  const made = lines.map((line) => ({
    afterMs: (millisecondsOf(line) - first) * scale,
    parts: partsOf(stringifyExact(line), indexOf),
  }));
  const key = lines[0]?.[keyed];
  if (typeof key !== "string") throw new Error(`${name}: expected ${keyed}`);
  const recorded = UUID.test(key);
  return {
    name,
    dialect,
    lines: made,
    key: recorded
      ? [{ slot: "uuid", index: indexOf(key), recorded: key }]
      : [key, { slot: "suffix" }],
    tenantByHeader: dialect === "defect" || dialect === "agent-sdk",
  };
}

function partsOf(text: string, indexOf: (recorded: string) => number): (string | Slot)[] {
  const parts: (string | Slot)[] = [];
  let rest = text;
  for (;;) {
    const found = SLOT.exec(rest);
    if (found === null) return [...parts, rest];
    const [whole, before, after, named, quote, uuid] = found;
    parts.push(rest.slice(0, found.index));
    if (before !== undefined && after !== undefined) parts.push(before, { slot: "time" }, after);
    else if (named !== undefined && quote !== undefined) {
      parts.push(named, { slot: "suffix" }, quote);
    } else if (uuid !== undefined) {
      parts.push({ slot: "uuid", index: indexOf(uuid), recorded: uuid });
    }
    rest = rest.slice(found.index + whole.length);
  }
}

function millisecondsOf(line: JsonObject | undefined): number {
  const timestamp = line?.timestamp;
  const at = typeof timestamp === "string" ? readTimestamp(timestamp) : undefined;
  if (at === undefined) throw new TypeError(`expected a timestamp, got ${String(timestamp)}`);
  return at[0] * 1000 + at[1] / 1e6;
}
