import { describe, expect, it } from "vitest";
import { readPage, section, tableRows } from "./pages.ts";

/** Pages of adapters with a table of options below a heading of this name. */
const OPTIONS = [
  ["langchain", "Options"],
  ["openai-agents", "Options"],
  ["ai-sdk", "Options"],
  ["mastra", "Options"],
  ["claude-agent", "Options"],
  ["mcp", "Client"],
  ["mcp", "Server"],
] as const;

/** What the declarations in `docs/api` say of a member, by its name. */
function declared(adapter: string, member: string): string | undefined {
  const page = readPage(`docs/api/${adapter}.md`);
  const found = page.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\n {2}readonly (\w+)\??:/gs);
  const texts = [...found].filter(([, , name]) => name === member).map(([, text = ""]) => text);
  return texts.length === 0 ? undefined : texts.join("\n").replaceAll(/\s+(?:\* )?/g, " ");
}

/** The members that a cell names: the last part of `limits.openCalls`. */
const membersIn = (cell: string) => cell.split(/, |; /).map((name) => name.split(".").at(-1) ?? "");

describe.each(OPTIONS)("the options of docs/%s.md below %s", (adapter, heading) => {
  const rows = tableRows(section(readPage(`docs/${adapter}.md`), heading))
    .filter(([, fallback, meaning]) => fallback !== undefined && meaning !== undefined)
    .map(([option = "", fallback = ""]) => ({ option, fallback }))
    .filter(({ option }) => /^[a-z]\w*(?:\.\w+)?(?:, \w+)*$/i.test(option));

  it("are declared, with these defaults", () => {
    expect(rows.length).toBeGreaterThan(1);
    for (const { fallback, option } of rows) {
      for (const member of membersIn(option)) {
        const text = declared(adapter, member);
        expect(text, option).toBeDefined();
        const [number] = /^[\d,]+/.exec(fallback) ?? [];
        if (number !== undefined) expect(text, option).toContain(`Default ${number}`);
      }
    }
  });
});

describe("docs/adapters.md", () => {
  const page = readPage("docs/adapters.md");
  const ADAPTERS = ["langchain", "openai-agents", "ai-sdk", "mastra", "claude-agent", "mcp"];
  const all = (text: string) =>
    tableRows(text).flatMap(([cell = ""]) => [...cell.matchAll(/^\w+|(?<=; .* )\w+$/g)].flat());

  it.each(["Options", "Counts"])("names members that are declared, below %s", (heading) => {
    const [first = ""] = section(page, heading).split("\nThe functions ");
    const members = all(first);
    expect(members.length).toBeGreaterThan(5);
    const unknown = members.filter((name) => ADAPTERS.every((each) => !declared(each, name)));
    expect(unknown).toEqual([]);
  });
});
