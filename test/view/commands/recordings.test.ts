import { describe, expect, it } from "vitest";
import { BUNDLED_RECORDINGS } from "../../../src/view/commands/demo/recordings.ts";
import { readLines, readText } from "../../support/golden.ts";

/** Which real run each recording is. */
const SOURCES: Readonly<Record<string, string>> = {
  success: "react_three_tools_with_budget",
  tool_error: "tool_error_recovered",
  tool_error_terminal: "tool_error_terminal_event_layer_outside",
  model_failure: "model_dispatch_failed",
  nested_subagent: "nested_subagent",
  approval: "approval_approved_and_denied",
  pause: "approval_pending_interrupts",
  cancelled: "cancelled",
  two_tenants: "two_tenants_interleaved",
};

interface Lifecycle {
  readonly id: string;
  readonly events: readonly { readonly at: string; readonly event: Record<string, unknown> }[];
}

function recorded(name: string): Record<string, unknown>[] {
  return readLines(`../recordings/${name}.ndjson`).map((line) => JSON.parse(line));
}

describe("the bundled recordings", () => {
  const lifecycles = readLines("golden/entelix_lifecycles.jsonl").map(
    (line): Lifecycle => JSON.parse(line),
  );

  it.each(Object.entries(SOURCES))("%s is the real run %s, with an envelope", (name, source) => {
    const events = lifecycles.find(({ id }) => id === source)?.events;
    expect(
      recorded(name).map(({ event_id, sequence, thread_id, timestamp, ...event }) => ({
        at: timestamp,
        event,
      })),
    ).toEqual(events?.map(({ at, event }) => ({ at, event })));
  });

  it("are all played, and only the one that is no real run is called constructed", () => {
    const real = BUNDLED_RECORDINGS.filter(({ constructed }) => !constructed);
    expect(real.map(({ file }) => file).sort()).toEqual(Object.keys(SOURCES).sort());
    const constructed = BUNDLED_RECORDINGS.filter((recording) => recording.constructed);
    expect(constructed.map(({ file }) => file)).toEqual(["resume"]);
    expect(readText("../recordings/README.md")).toContain(
      "| resume | **constructed, not recorded**",
    );
  });

  it("have one event id a line, and the constructed run names the one it goes on with", () => {
    const lines = BUNDLED_RECORDINGS.flatMap(({ file }) => recorded(file));
    expect(new Set(lines.map((line) => line.event_id)).size).toBe(lines.length);
    expect(recorded("resume")[0]?.resumed_from_run_id).toBe(recorded("pause")[0]?.run_id);
  });
});
