import { run as runOpenAi } from "@openai/agents-core";
import { AuditSink, MemorySessionLog } from "../../../src/entries/audit.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { FailOpenSink } from "../../../src/entries/sinks.ts";
import { type AgentEvent, Bridge, type EventEnvelope } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";
import * as aiSdk from "../ai-sdk/fake-sdk.ts";
import * as claude from "../claude-agent/observed.ts";
import { says as claudeSays, result, text, uses } from "../claude-agent/scripted-sdk.ts";
import { ASKED, add, reactAgent, run as runGraph } from "../langchain/agents.ts";
import { observe as observeLangChain } from "../langchain/observed.ts";
import { says as langChainSays } from "../langchain/scripted-model.ts";
import * as mastra from "../mastra/fake-mastra.ts";
import { observe as observeMcp } from "../mcp/observed.ts";
import { Client, text as mcpText, played } from "../mcp/peers.ts";
import { agent, pay } from "../openai-agents/scenes.ts";
import { asks, says } from "../openai-agents/scripted-model.ts";
import { listen } from "../openai-agents/told.ts";

export type Hook = (...given: unknown[]) => unknown;
export interface Seen {
  readonly lines: readonly string[];
  readonly errors: readonly unknown[];
}
/** Runs an agent with these options, and returns what was reported. */
export type Scene = (options: object) => Promise<Seen>;
interface Sent {
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
}

/** What a hook could change in an event. IDs and times differ from run to run. */
function lineOf({ event, envelope }: Sent): string {
  const { details = {} } = envelope;
  const { user_id, tags, decision } = details;
  const { type, tenant_id } = event;
  const own = {
    kind: "kind" in event ? event.kind : undefined,
    usage: "usage" in event ? event.usage : undefined,
    cost: "cost_usd" in details ? details.cost_usd : undefined,
    input: "input" in event ? event.input : undefined,
    output: "output" in event ? event.output : undefined,
  };
  const by = { by: decision?.by, person: decision?.person, outcome: decision?.outcome };
  const seen = { type, tenant_id, ...own, user_id, tags, ...by };
  return JSON.stringify(seen, (name, value: unknown) =>
    name === "id" || name === "tool_use_id" ? "?" : value,
  );
}
const linesOf = (told: readonly Sent[]) => told.map(lineOf);

export const openAiScene: Scene = async (options) => {
  const errors: unknown[] = [];
  const heard = listen({ onError: (error) => void errors.push(error), ...options });
  const a = agent("A", [[asks("pay", { n: 1 }, "p1")], [says("done")]], { tools: [pay] });
  const { state } = await runOpenAi(a, "hi");
  const [waiting] = state.getInterruptions();
  if (waiting !== undefined) state.approve(waiting);
  heard.processor.noteResult(await runOpenAi(a, heard.processor.noteState(state)));
  await heard.events();
  return { lines: linesOf(heard.told), errors };
};

export const langChainScene: Scene = async (options) => {
  const seen = observeLangChain(options);
  const script = [langChainSays("", ["add", "c1", { a: 1, b: 2 }]), langChainSays("3")];
  await runGraph(seen, reactAgent(script, [add]), ASKED, {
    metadata: { user: "u", nested: { deep: 1 } },
    tags: ["t"],
  });
  return { lines: linesOf(seen.told), errors: seen.errors };
};

export const aiSdkScene: Scene = async (options) => {
  const heard = aiSdk.listen(options);
  const call = aiSdk.asks("pay", "c1");
  const first = new aiSdk.FakeCall(heard.telemetry, { runtimeContext: { who: { name: "ann" } } });
  await first.start();
  await first.finish([call, aiSdk.wantsApproval("a1", call)]);
  const next = new aiSdk.FakeCall(heard.telemetry, { runtimeContext: { who: { name: "ann" } } });
  const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" };
  const response = { type: "tool-approval-response", approvalId: "a1", approved: true };
  await next.start({
    messages: [
      { role: "assistant", content: [call, request] },
      { role: "tool", content: [response] },
    ],
  });
  await next.tool(call, () => "paid");
  await next.finish([aiSdk.text("done")]);
  return { lines: linesOf(heard.sent), errors: heard.errors };
};

export const mastraScene: Scene = async (options) => {
  const heard = mastra.listen(options);
  const data = { requestContext: { user: "u" }, tags: ["t"] };
  const call = { toolName: "pay", toolCallId: "c1" };
  const first = mastra.agentRun(heard.telemetry, data);
  first.end({ output: { status: "suspended", reason: "tool-call-approval", ...call } });
  const run = mastra.agentRun(heard.telemetry, {
    ...data,
    traceId: first.traceId,
    input: { approved: true, ...call },
    metadata: { runId: "mastra-1", resumed: true, resumedFromSpanId: "0123456789abcdef" },
  });
  const { generation, inference, step } = mastra.asked(run);
  mastra.tool(step, "pay", "c1", { input: {} }).end({
    output: "paid",
    attributes: { success: true },
  });
  inference.end(mastra.answered());
  step.end();
  generation.end(mastra.answered());
  run.end({ output: { text: "done" } });
  return { lines: linesOf(heard.sent), errors: heard.errors };
};

export const claudeScene: Scene = async (options) => {
  const seen = claude.observe(options);
  const input = { command: "rm a" };
  await claude.play(
    seen,
    async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(claudeSays("m1", uses("t1", "Bash", input)));
      await sdk.before("t1", "Bash", input);
      await sdk.ask("t1", "Bash", input);
      await sdk.after("t1", "Bash", "gone");
      sdk.send(claudeSays("m2", text("done")), result("done"));
    },
    { options: { canUseTool: async () => ({ behavior: "allow", updatedInput: input }) } },
    { metadata: { user: { name: "ann" } } },
  );
  return { lines: linesOf(seen.told), errors: seen.errors };
};

const TOOLS = { find: () => mcpText("found") };
const CALL = { method: "tools/call", params: { name: "find", arguments: { id: 1 } } };

export const mcpServerScene: Scene = async (options) => {
  const seen = observeMcp();
  const client = new Client();
  await seen.connected(client, seen.server(TOOLS, options));
  await played(client.request(CALL));
  return { lines: linesOf(seen.told), errors: seen.errors };
};

export const mcpClientScene: Scene = async (options) => {
  const seen = observeMcp();
  const client = seen.client({ sink: seen.sink, tenant: "acme", ...options });
  await seen.connected(client, seen.server(TOOLS, { sink: { send() {} } }));
  await played(client.request(CALL));
  return { lines: linesOf(seen.told), errors: seen.errors };
};

export const runtimeScene: Scene = async (options) => {
  const told: Sent[] = [];
  const errors: unknown[] = [];
  const sink = {
    send: (event: AgentEvent, envelope: EventEnvelope = {}) => void told.push({ event, envelope }),
  };
  const common = { agent: "support", tenant: "acme", onError: (e: unknown) => errors.push(e) };
  await runAgent({ sink, ...common, ...options }, async (run) => {
    await run.tool("pay", { input: { n: 1 } }, () => "paid");
    await run
      .tool("fail", () => {
        throw new Error("no");
      })
      .catch(() => {});
    return run.model("small-1", (call) => {
      call.report({ usage: { input_tokens: 5, output_tokens: 2 } });
      return "done";
    });
  }).catch(() => {});
  return { lines: linesOf(told), errors };
};

/** The spans of a run that content is shown of. */
export const bridgeScene: Scene = async (options) => {
  const errors: unknown[] = [];
  const collected = collectSpans();
  const bridge = new Bridge({
    tracerProvider: collected.provider,
    captureContent: true,
    onError: (error) => void errors.push(error),
    ...options,
  });
  const sink = {
    send: (event: AgentEvent, envelope: EventEnvelope = {}) => void bridge.send(event, envelope),
  };
  await runAgent({ sink, agent: "support", tenant: "acme", input: "hi" }, async (run) => {
    await run.tool("pay", { input: { n: 1 } }, () => "paid");
    await run.model("small-1", { input: "hi" }, () => "done");
  });
  const lines = collected.spans().map(({ attributes, name, status }) => {
    const { "entelix.run.id": _run, "gen_ai.tool.call.id": _call, ...others } = attributes;
    const rest = Object.entries(others).filter(([, value]) => !/^[\da-f-]{36}$/.test(`${value}`));
    return JSON.stringify([name, status, rest]);
  });
  return { lines, errors };
};

export const auditScene: Scene = async (options) => {
  const errors: unknown[] = [];
  const log = new MemorySessionLog();
  const sink = new AuditSink({ log, onError: (error) => void errors.push(error), ...options });
  const ids = { tenant_id: "acme", run_id: "r1" };
  const started: AgentEvent = { type: "started", agent: "a", parent_run_id: null, ...ids };
  await sink.send(started, { thread_id: "t" });
  const call = { tool_use_id: "c1", tool: "pay", tool_version: null };
  await sink.send({ type: "tool_start", input: {}, ...call, ...ids }, { thread_id: "t" });
  return { lines: [], errors };
};

export const failOpenScene: Scene = async (options) => {
  const inner = {
    send: () => {
      throw new Error("sink");
    },
  };
  const sink = new FailOpenSink(inner, options);
  await sink.send({
    type: "started",
    agent: "a",
    parent_run_id: null,
    tenant_id: "t",
    run_id: "r",
  });
  return { lines: [], errors: [] };
};
