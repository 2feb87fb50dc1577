import { describe, expect, it } from "vitest";
import { parseExact } from "../../../../src/entries/events.ts";
import { isJsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { readText } from "../../../support/golden.ts";
import { recordedLines, recordings } from "./recordings.ts";
import { translated } from "./replayed.ts";
import { written } from "./written.ts";

const told = parseExact(readText("replay/dialects/defect/golden-signals.json"));

describe("the signals, rows and counts of golden sessions", () => {
  it("are written down for every recording", () => {
    const names = recordings().map((recording) => recording.name);
    expect(isJsonObject(told) && Object.keys(told)).toEqual(names);
  });

  for (const recording of recordings()) {
    it(`are as written down for ${recording.name}`, () => {
      const { mapping, rows, signals } = translated(recordedLines(recording));
      expect({
        ...written(recording, signals, rows),
        unprojected: Object.fromEntries(mapping.unprojected),
      }).toEqual(isJsonObject(told) && told[recording.name]);
    });
  }

  it("know of every turn that was taken back", () => {
    const counts = recordings().map((recording) => {
      const { rolledBackRows, rolledBackTurns } = translated(recordedLines(recording)).mapping
        .counts;
      return [rolledBackTurns, rolledBackRows];
    });
    // Each aborted turn had its prompt alone: what came before the abort was a model call that failed.
    expect(counts).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
  });
});
