import { PassThrough } from "node:stream";
import { run as runAgents, setTraceProcessors, setTracingDisabled } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import {
  CaptureSink,
  FailOpenSink,
  FanOutSink,
  type InnerSink,
  RecorderSink,
  StateErasureSink,
} from "../../../src/entries/sinks.ts";
import { Bridge, type ContentNeed } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";
import { add as addLangChain, reactAgent } from "../langchain/agents.ts";
import { says as saysLangChain } from "../langchain/scripted-model.ts";
import { add, agent } from "../openai-agents/scenes.ts";
import { asks, says } from "../openai-agents/scripted-model.ts";

/** Each framework's agent, which is asked `question-mark`, calls `add` and answers `answer-mark`. */
const AGENTS: Readonly<Record<string, (sink: InnerSink) => Promise<void>>> = {
  async langchain(sink) {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    const script = [
      saysLangChain("", ["add", "call_add", { a: 471_147_114_711, b: 2 }]),
      saysLangChain("answer-mark"),
    ];
    const asked = { messages: [{ role: "user", content: "question-mark" }] };
    await reactAgent(script, [addLangChain]).invoke(asked, { callbacks: [handler] });
    await handler.flush();
    expect(handler.counts.faults).toBe(0);
  },
  async "openai-agents"(sink) {
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    const script = [[asks("add", { a: 471_147_114_711 })], [says("answer-mark")]];
    await runAgents(agent("A", script, { tools: [add] }), "question-mark");
    await processor.forceFlush();
    expect(processor.counts.faults).toBe(0);
  },
};

/** The rows without what differs from run to run. */
async function rowsOf(work: (sink: InnerSink) => Promise<void>, captureContent: boolean) {
  const rows: unknown[] = [];
  class Rows extends MemorySessionLog {
    override async append(...[key, entries]: Parameters<MemorySessionLog["append"]>) {
      for (const { event } of entries)
        rows.push({ ...event, timestamp: "", duration_ms: 0, id: "" });
      return super.append(key, entries);
    }
  }
  const { provider } = collectSpans();
  const bridge = new Bridge({ tracerProvider: provider, captureContent, audit: new Rows() });
  await work(bridge);
  await bridge.forceFlush();
  return rows;
}

describe.each(Object.entries(AGENTS))("the content that %s sends", (_, work) => {
  it("makes equal rows, whether spans show content or not", async () => {
    const rows = await rowsOf(work, false);
    expect(rows).toEqual(await rowsOf(work, true));
    expect(JSON.stringify(rows)).toContain("question-mark");
  });
});

describe("what a sink reads", () => {
  const { provider } = collectSpans();
  const plain = new Bridge({ tracerProvider: provider, captureContent: false });
  const withoutLoops = new Bridge({
    tracerProvider: provider,
    captureContent: false,
    loops: false,
  });
  const audited = new Bridge({
    tracerProvider: provider,
    captureContent: false,
    audit: new MemorySessionLog(),
  });
  const shown = new Bridge({ tracerProvider: provider, captureContent: true });

  it.each<[string, InnerSink, ContentNeed | undefined]>([
    ["a bridge", plain, "tools"],
    ["a bridge that finds no loops", withoutLoops, "none"],
    ["a bridge with an audit log", audited, "rows"],
    ["a bridge that captures content", shown, "all"],
    ["several sinks", new FanOutSink([plain, audited]), "rows"],
    ["several sinks, one of which records", new FanOutSink([plain, new CaptureSink()]), "all"],
    ["a sink that fails open", new FailOpenSink(plain), "tools"],
    ["a sink without state", new StateErasureSink(audited), "rows"],
    ["a recorder", new RecorderSink({ stream: new PassThrough() }), undefined],
  ])("is known of %s", (_, sink, need) => {
    expect(sink.contentNeed).toBe(need);
  });
});
