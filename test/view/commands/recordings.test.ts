import { describe, expect, it } from "vitest";
import { BUNDLED_RECORDINGS } from "../../../src/view/commands/demo/recordings.ts";
import { RECORDED_AS, readLines, readText } from "../../support/golden.ts";

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

  it.each(Object.entries(RECORDED_AS))(
    "%s is the real run %s, with an envelope",
    (name, source) => {
      const events = lifecycles.find(({ id }) => id === source)?.events;
      expect(
        recorded(name).map(({ event_id, sequence, thread_id, timestamp, ...event }) => ({
          at: timestamp,
          event,
        })),
      ).toEqual(events?.map(({ at, event }) => ({ at, event })));
    },
  );

  it("are all played, and only the one that is no real run is called constructed", () => {
    const real = BUNDLED_RECORDINGS.filter(({ constructed }) => !constructed);
    expect(real.map(({ file }) => file).sort()).toEqual(Object.keys(RECORDED_AS).sort());
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
