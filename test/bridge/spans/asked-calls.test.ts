import { expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const story = [
  run.started(),
  run.asked("c1", "pay"),
  run.approved("c1", "pay"),
  run.toolStart("c1", "pay"),
  run.toolComplete("c1", "pay"),
  run.complete(),
];

it("a question about a call leaves the spans as they are without it", () => {
  const [asked, plain] = [bench(), bench()];
  for (const [n, event] of story.entries()) {
    asked.at(n, event);
    if (event.type !== "tool_call_asked") plain.at(n, event);
  }
  expect(asked.trees()).toEqual(plain.trees());
  expect(asked.trees()[0]?.children).toHaveLength(1);
});

it("a question about a call leaves no audit row", async () => {
  const log = new MemorySessionLog();
  const { provider } = collectSpans();
  const bridge = new Bridge({ mode: "replay", tracerProvider: provider, audit: log });
  void bridge.send(run.started(), { timestamp: second(0), thread_id: "t" });
  const before = JSON.stringify(log);
  expect(bridge.send(run.asked("c1"), { timestamp: second(1) })).toBeUndefined();
  expect(JSON.stringify(log)).toBe(before);
  expect(bridge.openRuns()[0]?.waitsFor).toMatchObject({ kind: "approval", name: "fetch" });
  await bridge.shutdown();
});
