import { describe, expect, it } from "vitest";
import { DEFECT_EVENT_TYPES } from "../../../../src/replay/dialects/defect/events.ts";
import { DEFAULT_DEFECT_LIMITS } from "../../../../src/replay/dialects/defect/limits.ts";
import { DEFECT_TERMINALS } from "../../../../src/replay/dialects/defect/terminals.ts";
import { readPage, section, tableRows } from "../../../docs/pages.ts";

const page = readPage("docs/dialect-defect.md");

describe("the section on defect-agent", () => {
  it("gives each of the 16 event types its place", () => {
    const types = tableRows(section(page, "Events")).map(([type]) => type);
    expect(types.toSorted()).toEqual([...DEFECT_EVENT_TYPES].sort());
  });

  it("has the table of terminals", () => {
    const rows = tableRows(section(page, "Ends"));
    const said = rows.map(([name, outcome, failureKind]) => [
      name,
      failureKind ? { outcome, failureKind } : { outcome },
    ]);
    expect(Object.fromEntries(said)).toEqual(DEFECT_TERMINALS);
  });

  it("names the bounds of what is held for the audit log", () => {
    const text = section(page, "Audit log");
    const { heldCharacters, heldRows } = DEFAULT_DEFECT_LIMITS;
    expect(text).toContain(heldRows.toLocaleString("en-US"));
    expect(text).toContain(heldCharacters.toLocaleString("en-US"));
  });
});
