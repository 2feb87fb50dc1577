import { describe, expect, it } from "vitest";
import { AGENT_SDK_EVENT_TYPES } from "../../../../src/replay/dialects/agent-sdk/events.ts";
import { TERMINALS } from "../../../../src/replay/dialects/agent-sdk/terminals.ts";
import { readPage, section, tableRows } from "../../../docs/pages.ts";

const page = readPage("docs/dialect-agent-sdk.md");
const OUTCOMES = new Set<string>(["complete", "refused", "interrupted"]);

describe("the section on agent-sdk-foundation", () => {
  it("gives each of the 24 event types its place", () => {
    const types = tableRows(section(page, "Events")).map(([type]) => type);
    expect(types.toSorted()).toEqual([...AGENT_SDK_EVENT_TYPES].sort());
  });

  it("has the table of terminals", () => {
    const rows = tableRows(section(page, "Ends"));
    expect(rows).toEqual(
      Object.entries(TERMINALS).map(([event, end]) =>
        OUTCOMES.has(end) ? [event, end, ""] : [event, "failed", end],
      ),
    );
  });
});
