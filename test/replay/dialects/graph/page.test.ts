import { describe, expect, it } from "vitest";
import { knownEventForm } from "../../../../src/audit/door.ts";
import {
  endOfClass,
  KNOWN_ERROR_CLASSES,
  TERMINALS,
} from "../../../../src/replay/dialects/graph/terminals.ts";
import { readPage, section, tableRows } from "../../../docs/pages.ts";

const page = readPage("docs/dialect-graph.md");

describe("the section on logs of GraphEvents", () => {
  it("gives each of upstream's 19 kinds and of our own its place", () => {
    const kinds = tableRows(section(page, "Events")).map(([kind]) => kind);
    const known = [...knownEventForm.variants.keys()];
    expect(kinds.toSorted()).toEqual(known.sort());
  });

  const [ended, ...ends] = tableRows(section(page, "Ends"));
  const rows = ends.filter(([name = ""]) => name in TERMINALS);
  const classes = ends.slice(Object.keys(TERMINALS).length);

  it("has the table of terminal rows", () => {
    expect(ended).toEqual(["entelix.run_ended", "outcome", "failure_kind"]);
    const said = rows
      .slice(0, Object.keys(TERMINALS).length)
      .map(([name, outcome, kind]) => [
        name,
        outcome === "by its class" ? "by_class" : kind || outcome,
      ]);
    expect(said).toEqual(Object.entries(TERMINALS));
  });

  it("has the table of error classes", () => {
    const known = classes.filter(([name]) => name !== "every other");
    expect(known.map(([name, outcome, kind]) => [name, kind || outcome])).toEqual([
      ...KNOWN_ERROR_CLASSES,
    ]);
    const other = classes.find(([name]) => name === "every other");
    expect(other?.[2]).toBe(endOfClass("anything else"));
  });
});
