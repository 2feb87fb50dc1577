import { Writable } from "node:stream";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { claudeAgent } from "../../../src/entries/claude-agent.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import {
  type AgentEvent,
  Bridge,
  type ContentNeed,
  type EventEnvelope,
} from "../../../src/index.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";
import {
  failed,
  result,
  resultError,
  returned,
  type ScriptedProcess,
  says,
  scripted,
  text,
  uses,
} from "./scripted-sdk.ts";

const canUseTool = async () => ({ behavior: "allow", updatedInput: { command: "cat secret-b" } });

/** Everything that has an event, in two prompts of one query. */
async function everything(sdk: ScriptedProcess): Promise<void> {
  await sdk.prompt("secret-question");
  sdk.send(says("m1", uses("t1", "Bash", { command: "secret-a" })));
  await sdk.before("t1", "Bash", { command: "secret-a" });
  await sdk.ask("t1", "Bash", { command: "secret-a" });
  await sdk.after("t1", "Bash", "secret-output");
  await sdk.before("t2", "Agent", { prompt: "secret-task", subagent_type: "finder" });
  const task = { type: "system", subtype: "task_started", task_type: "local_agent" };
  sdk.send({ ...task, task_id: "a1", tool_use_id: "t2", subagent_type: "finder" });
  const inside = { parent_tool_use_id: "t2", agent_id: "a1" };
  sdk.send(says("m2", uses("t3", "Read"), inside));
  await sdk.tool("t3", "Read", {}, "secret-text", { agent_id: "a1" });
  sdk.send(says("m3", text("secret-answer"), inside), returned("t2", "secret-answer"));
  await sdk.before("t4", "Bash", { command: "c" });
  await sdk.hook("PermissionDenied", {
    tool_use_id: "t4",
    tool_name: "Bash",
    reason: "secret-rule",
  });
  sdk.send(failed("t4", "secret-rule"));
  await sdk.hook("PreCompact", { trigger: "auto" });
  await sdk.hook("PostCompact", { trigger: "auto", compact_summary: "secret-summary" });
  sdk.send(says("m4", text("secret-end")), result("secret-end"));
  await sdk.prompt("secret-second");
  await sdk.before("t5", "Bash", {});
  sdk.send(failed("t5", "secret-stderr"));
  sdk.send(resultError("error_max_turns", ["Reached maximum number of turns (2)"]));
}

async function run(sink: Parameters<typeof claudeAgent>[0]["sink"]): Promise<void> {
  const agent = claudeAgent({ sink, tenant: "acme", decidedBy: () => "ann" });
  const { query } = scripted(everything);
  for await (const _ of agent.query(query, { prompt: "secret-question", options: { canUseTool } }));
  await agent.flush();
  expect(agent.counts.faults + agent.counts.sinkFailures).toBe(0);
}

describe("a recording", () => {
  it.each([true, false])("gives equal spans, with content %s", async (captureContent) => {
    let tape = "";
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        tape += chunk.toString();
        done();
      },
    });
    const live = collectSpans();
    const bridge = new Bridge({ tracerProvider: live.provider, captureContent });
    const tapes = new RecorderSink({ stream, source: bridge, content: captureContent });
    await run(new FanOutSink([bridge, tapes]));
    const again = collectSpans();
    const other = new Bridge({ tracerProvider: again.provider, captureContent });
    async function* text() {
      yield tape;
    }
    await readEvents(text(), {
      dialects: [entelixDialect],
      onEvent: ({ event, envelope }) => other.send(event, envelope),
      onIssue: (issue) => expect(issue).toBeUndefined(),
    });
    // The end of a model call is known later than it was, so the order of the ends differs.
    const sorted = (spans: readonly ReadableSpan[]) => spans.map(fingerprint).sort();
    expect(sorted(again.spans())).toEqual(sorted(live.spans()));
    const names = live.spans().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("invoke_agent"))).toEqual([
      ...["invoke_agent finder", "invoke_agent claude", "invoke_agent claude"],
    ]);
    expect(names).toHaveLength(13);
  });

  it("gives equal rows", async () => {
    const sent: [AgentEvent, EventEnvelope | undefined][] = [];
    const rowsOf = async (play: (bridge: Bridge) => Promise<void>) => {
      const log = new MemorySessionLog();
      const bridge = new Bridge({ tracerProvider: collectSpans().provider, audit: log });
      await play(bridge);
      await bridge.forceFlush();
      const thread_id = sent[0]?.[1]?.thread_id ?? "";
      return log.loadSince({ tenant_id: "acme", thread_id }, 0);
    };
    const live = await rowsOf((bridge) =>
      run({
        send(event, envelope) {
          sent.push([event, envelope]);
          return bridge.send(event, envelope);
        },
      }),
    );
    const again = await rowsOf(async (bridge) => {
      const ordered = [...sent].sort(([, a], [, b]) => timeOf(a) - timeOf(b));
      for (const [event, envelope] of ordered) await bridge.send(event, envelope);
    });
    expect(live.length).toBeGreaterThan(12);
    expect(again).toEqual(live);
  });
});

function timeOf(envelope: EventEnvelope | undefined): number {
  const at = envelope?.timestamp;
  return Array.isArray(at) ? Number(at[0]) * 1e6 + Number(at[1]) / 1e3 : 0;
}

describe("content", () => {
  it.each<[ContentNeed, boolean, boolean]>([
    ["none", false, false],
    ["rows", true, false],
    ["all", true, true],
  ])("is sent as far as a sink reads it: %s", async (contentNeed, rows, messages) => {
    const sent: unknown[] = [];
    await run({ contentNeed, send: (...each) => void sent.push(each) });
    const all = JSON.stringify(sent);
    for (const mark of ["secret-question", "secret-output", "secret-b"]) {
      expect([mark, all.includes(mark)]).toEqual([mark, rows]);
    }
    expect(all.includes("secret-end")).toBe(messages);
    expect(all).not.toContain("secret-summary");
  });

  it("is on no span without the option", async () => {
    const { provider, spans } = collectSpans();
    await run(new Bridge({ tracerProvider: provider }));
    const shown = spans().map(({ attributes, events, status }) => [attributes, events, status]);
    expect(JSON.stringify(shown)).not.toContain("secret");
    expect(spans()).toHaveLength(13);
  });
});
