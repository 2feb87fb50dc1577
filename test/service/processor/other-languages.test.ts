import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { writeEnvironment } from "../../../src/events/door.ts";
import { Bridge } from "../../../src/index.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { decodeLogLine } from "../../../src/service/processor/decode-log-line.ts";
import { bench, RunEvents, ZERO } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const [entelix] = RUNTIMES;

/** What an agent in another language sends, told by its environment alone; as the page has it. */
function linesOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  const fields = [
    ["parent_run_id", "ENTELIX_PARENT_RUN_ID"],
    ["root_run_id", "ENTELIX_ROOT_RUN_ID"],
    ["parent_tool_use_id", "ENTELIX_PARENT_TOOL_USE_ID"],
    ["thread_id", "ENTELIX_THREAD_ID"],
    ["traceparent", "TRACEPARENT"],
  ] as const;
  const carried = fields.flatMap(([field, name]) => {
    const value = environment[name];
    return value === undefined ? [] : [[field, decodeURIComponent(value)]];
  });
  const run = { run_id: CHILD, tenant_id: "acme" };
  const timestamp = new Date(ZERO * 1000).toISOString();
  return [
    { type: "started", ...run, timestamp, agent: "expert", ...Object.fromEntries(carried) },
    { type: "complete", ...run, timestamp, state: null, usage: null },
  ].map((line) => JSON.stringify(line));
}

/** Takes lines as `serve` does. */
async function served(lines: readonly string[], trusted: boolean) {
  const spans = collectSpans();
  const bridge = new Bridge({ mode: "replay", tracerProvider: spans.provider });
  const player = entelix.player(bridge, "acme");
  for (const text of lines) {
    const line = { text, tenant: "acme", dialect: undefined, trusted };
    const { event, issues } = decodeLogLine(line, [entelix.dialect]);
    expect(issues).toBeUndefined();
    if (event !== undefined) await player.take(event.event, event.envelope);
  }
  await bridge.shutdown();
  return spans.spans();
}

describe("an agent in another language", () => {
  const here = bench();
  here.identified(0, top.started("top"), { thread_id: "대화 1" });
  here.identified(1, top.toolStart("검색#0"));
  here.identified(2, top.toolComplete("검색#0"));
  here.identified(3, top.toolStart("검색#0"));
  const environment = writeEnvironment(here.sink.runContext("acme", TOP, "검색#0"));
  const callSpan = (occurrence: number) =>
    RunIds.fromUuid(TOP)?.childSpanId("t", "검색#0", occurrence);

  it.each([
    ["trusted: below the call that its trace names", true, 2],
    ["not trusted: below the first call of the id, by the ids", false, 1],
  ])("that is %s", async (_, trusted, occurrence) => {
    const [span, more] = await served(linesOf(environment), trusted);
    expect(more).toBeUndefined();
    expect(span?.spanContext().traceId).toBe(TOP.replaceAll("-", ""));
    expect(span?.parentSpanContext?.spanId).toBe(callSpan(occurrence));
    expect(span?.attributes).toMatchObject({
      "entelix.parent_run_id": TOP,
      "gen_ai.conversation.id": "대화 1",
    });
  });

  it("that is told nothing is a root", async () => {
    const [span] = await served(linesOf({}), true);
    expect(span?.spanContext().traceId).toBe(CHILD.replaceAll("-", ""));
    expect(span?.parentSpanContext).toBeUndefined();
  });
});
