import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { anchoredSpans } from "../../src/cli/audit/anchored-spans.ts";
import { HOSTILE, HOSTILE_LINES } from "../view/support/hostile-spans.ts";
import { Folder } from "./support/folder.ts";

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

/** A span of a run with its last row, and some content. */
function span(n: number, content: string) {
  return {
    attributes: [
      text("entelix.tenant_id", "acme"),
      text("entelix.run_id", `r${n}`),
      { key: "entelix.audit.ordinal", value: { intValue: String(n) } },
      text("entelix.audit.hash", "ab".repeat(32)),
      text("gen_ai.tool.call.arguments", content),
    ],
  };
}

describe("the spans that a log is verified against", () => {
  it("are read in whole batches of the collector, longer than any line of a recording", async () => {
    using folder = new Folder();
    const spans = Array.from({ length: 4600 }, (_, n) => span(n + 1, "x".repeat(4096)));
    const line = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    expect(line.length).toBeGreaterThan(16 * 1024 * 1024);
    writeFileSync(folder.at("spans.json"), `${line}\n${line}\n`);
    const found = await anchoredSpans(folder.at("spans.json"), () => {});
    expect(found).toHaveLength(9200);
    expect(found.at(-1)).toEqual({
      anchor: { tenant_id: "acme", run_id: "r4600", ordinal: 4600, hash: "ab".repeat(32) },
      line: 2,
    });
  });
});

it("hostile content of one span keeps no other anchor from the verification of a log", async () => {
  using folder = new Folder();
  const file = folder.at("spans.json");
  const requests = HOSTILE_LINES.filter((each) => each.includes('"resourceSpans":['));
  writeFileSync(file, `${requests.join("\n")}\n`);
  const found = new Set((await anchoredSpans(file, () => {})).map(({ anchor }) => anchor.run_id));
  const all = [...HOSTILE.map((_, at) => `r${1000 + at}`), "r9999", "r2000", "r2001"];
  expect(all.filter((id) => !found.has(id))).toEqual([]);
});
