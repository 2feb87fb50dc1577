import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { ATTRIBUTES } from "../../../src/events/door.ts";
import type { RunDetail, ViewSpan } from "../../../src/view/format.ts";
import { withoutContent } from "../../../src/view/sources/without-content.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, line, started } from "../../cli/support/recorded.ts";
import { ALL, detailsOf, listOf, withRuns } from "../support/opened.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const SECRET = "s3cret-of-a-user";
const NONE = { ...ALL, content: false };

const tool = { tool_use_id: "t-1", tool: "transfer" };
const messages = [{ role: "user", content: [{ type: "text", text: SECRET }] }];
const decision = {
  by: "user",
  person: `person ${SECRET}`,
  proposed_input: { iban: SECRET },
  reason: SECRET,
  wait_ms: 10,
};
const exception = { type: "PaymentError", message: SECRET, stacktrace: `at ${SECRET}` };

/** A run whose every content has the secret, and one that pauses, one that fails. */
const EVENTS = [
  started({ details: { input: messages } }),
  line({
    type: "model_start",
    model_call_id: "m-1",
    model: "gpt",
    input: messages,
    system: SECRET,
    tools: [{ name: SECRET }],
  }),
  line({ type: "model_complete", model_call_id: "m-1", output: messages }),
  line({ type: "tool_call_approved", ...tool, details: { decision }, decision }),
  line({ type: "tool_start", ...tool, input: { iban: SECRET } }),
  line({
    type: "tool_error",
    ...tool,
    error: "refused",
    error_for_llm: SECRET,
    kind: "permanent",
    exception,
    details: { exception },
  }),
  line({ type: "tool_start", ...tool, tool_use_id: "t-2", input: { iban: SECRET } }),
  line({
    type: "tool_complete",
    ...tool,
    tool_use_id: "t-2",
    output: { said: SECRET },
    duration_ms: 1,
  }),
  line({
    type: "step_start",
    step_id: "s-1",
    name: "look",
    kind: "retrieval",
    query: SECRET,
    details: { query: SECRET },
  }),
  line({
    type: "step_complete",
    step_id: "s-1",
    documents: [SECRET],
    details: { documents: [SECRET] },
  }),
  completed({ state: { secret: SECRET }, details: { output: messages } }),
  started({ run_id: "paused" }),
  line({
    run_id: "paused",
    type: "interrupted",
    kind: { type: "custom" },
    payload: { secret: SECRET },
  }),
];
const recorded = folder.at("run.ndjson");
writeFileSync(recorded, `${EVENTS.join("\n")}\n`);

function textOf(details: Iterable<RunDetail>): string {
  return JSON.stringify([...details]);
}

async function outputs(): Promise<{ readonly spans: string; readonly audit: string }> {
  const [spans, audit] = [folder.at("spans.json"), folder.at("audit")];
  const to = ["--out", spans, "--audit", audit, "--capture-content", "--approval-person"];
  await command(["replay", recorded, ...to]);
  return { spans, audit };
}

describe("content that was not asked for", () => {
  it("is in none of the sources' runs, and in all of them where it was", async () => {
    const { audit, spans } = await outputs();
    expect(readFileSync(spans, "utf8").split(SECRET).length).toBeGreaterThan(10);
    for (const place of [recorded, spans, audit]) {
      const shown = await withRuns([place], ALL, detailsOf);
      expect(textOf(shown.values())).toContain(SECRET);
      const hidden = await withRuns([place], NONE, async (runs) => {
        expect(JSON.stringify(listOf(runs))).not.toContain(SECRET);
        return detailsOf(runs);
      });
      expect(textOf(hidden.values())).not.toContain(SECRET);
      expect([...hidden.keys()].sort()).toEqual([...shown.keys()].sort());
      for (const [key, detail] of hidden) {
        expect(detail.content).toBe(false);
        // Questions and answers are content, too.
        const run = shown.get(key)?.run;
        const decisions = run?.decisions?.map(({ person: _, ...decision }) => decision);
        const texts = {
          answer: undefined,
          asked: undefined,
          question: undefined,
          tool_inputs: undefined,
        };
        expect(detail.run).toEqual({ ...run, ...texts, decisions });
        expect(detail.spans.map(({ span_id }) => span_id)).toEqual(
          shown.get(key)?.spans.map(({ span_id }) => span_id),
        );
        expect(detail.rows).toEqual(shown.get(key)?.rows.map(({ event: _, ...row }) => row));
        expect(shown.get(key)?.rows.every(({ event }) => event !== undefined)).toBe(true);
      }
    }
  });

  it("is left out of every attribute that the table marks, and of all that it does not know", () => {
    const everything = Object.keys(ATTRIBUTES).map((name) => [name, SECRET] as const);
    const unknown = [
      "gen_ai.prompt.0.content",
      "db.statement",
      "input.value",
      "url.full",
      "__proto__",
      "toString",
    ];
    const attributes = Object.fromEntries([
      ...everything,
      ...unknown.map((name) => [name, SECRET] as const),
    ]);
    const span: ViewSpan = {
      trace_id: "t",
      span_id: "s",
      run_id: "r",
      kind: "run",
      name: "invoke_agent",
      start_ns: "1",
      end_ns: "2",
      failed: true,
      message: "why",
      attributes,
      events: [{ name: "exception", time_ns: "1", attributes }],
      links: [{ trace_id: "t", span_id: "s", attributes }],
    };
    const { events, links, message, ...own } = withoutContent(span);
    const content = Object.entries(ATTRIBUTES)
      .filter((entry) => entry[1].content)
      .map(([name]) => name);
    const hidden = [
      ...content,
      "exception.message",
      "exception.stacktrace",
      "entelix.approval.person",
      ...unknown,
    ];
    expect(content).toContain("entelix.run.state");
    expect(content).toContain("entelix.interruption.payload");
    expect(content).toContain("entelix.approval.reason");
    expect(content).toContain("entelix.approval.proposed_input");
    for (const shown of [own.attributes, events[0]?.attributes, links[0]?.attributes]) {
      expect(Object.keys(shown ?? {}).filter((name) => hidden.includes(name))).toEqual([]);
      expect(Object.keys(shown ?? {})).toContain("entelix.run_id");
    }
    expect(message).toBe("why");
    const { run_id: _, ...foreign } = span;
    expect(withoutContent({ ...foreign, kind: "other" })).not.toHaveProperty("message");
  });
});
