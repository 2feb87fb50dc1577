import { extract } from "../../../src/entries/context.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import {
  asAgentError,
  Bridge,
  classifyFailure,
  classifyToolError,
  envelopeOf,
  isAgentError,
  renderForLlm,
} from "../../../src/index.ts";
import type { Random } from "../../support/random.ts";
import { collectSpans } from "../../support/spans.ts";
import { HOSTILE_FORMS, hostileLeaf } from "./hostile-values.ts";
import { seededUuid } from "./seeded-ids.ts";

/** Calls of the library with hostile arguments, none of which may throw or reject. */
export interface CallsUnderTest {
  readonly name: string;
  /** @returns the calls, to be made in this order. */
  draw(random: Random): readonly HostileCall[];
}

export interface HostileCall {
  readonly what: string;
  call(): unknown;
}

/** A bridge that nobody hears of. */
function bridge(): Bridge {
  const { provider } = collectSpans();
  return new Bridge({ tracerProvider: provider, captureContent: true, onError: () => {} });
}

function anything(random: Random, fields: Readonly<Record<string, unknown>>): unknown {
  return random.chance(0.3) ? fields : random.of(HOSTILE_FORMS).make(fields, random);
}

/** A method of an object, with arguments that its types do not allow. */
function method(target: object, name: string, ...args: readonly unknown[]): HostileCall {
  const call = () => {
    const found: unknown = Reflect.get(target, name);
    if (typeof found !== "function") throw new TypeError(`${name}: expected a method`);
    return Reflect.apply(found, target, args);
  };
  return { what: name, call };
}

function langChain(random: Random): HostileCall[] {
  const handler = new LangChainHandler({ sink: bridge(), tenant: "acme", onError: () => {} });
  const [run, step, call] = [seededUuid(random), seededUuid(random), seededUuid(random)];
  const serialized = () => anything(random, { id: ["langchain", "x"], name: "n", kwargs: {} });
  const some = () => anything(random, { messages: [{ content: "hi", role: "user" }] });
  const metadata = () =>
    anything(random, { thread_id: "t", langgraph_node: "n", ls_provider: "p" });
  return [
    method(handler, "handleChainStart", serialized(), some(), run, undefined, [], metadata()),
    method(handler, "handleChainStart", serialized(), some(), step, run, some(), metadata()),
    method(
      handler,
      "handleChatModelStart",
      serialized(),
      [[some()]],
      call,
      step,
      some(),
      [],
      metadata(),
    ),
    method(handler, "handleLLMNewToken", some(), some(), call),
    method(handler, "handleLLMEnd", anything(random, { generations: [[some()]] }), call, step),
    method(
      handler,
      "handleToolStart",
      serialized(),
      "{}",
      step + 1,
      step,
      [],
      metadata(),
      "n",
      "c",
    ),
    method(handler, "handleToolEnd", some(), step + 1),
    method(handler, "handleToolStart", serialized(), hostileLeaf(random), step + 2, step),
    method(handler, "handleToolError", hostileLeaf(random), step + 2),
    method(handler, "handleInterrupt", anything(random, { runId: run, interrupts: [some()] })),
    method(handler, "handleChainError", hostileLeaf(random), step, run),
    method(handler, "handleChainEnd", some(), run),
    method(handler, "flush"),
  ];
}

function openAiAgents(random: Random): HostileCall[] {
  const options = { sink: bridge(), tenant: "acme", onError: () => {} };
  const processor = new OpenAIAgentsProcessor(options);
  const hex = seededUuid(random).replaceAll("-", "");
  const traceId = `trace_${hex}`;
  const trace = () => anything(random, { traceId, name: "w", groupId: "g", metadata: {} });
  const time = "2026-04-29T12:00:00.000Z";
  const data = () =>
    anything(
      random,
      random.of([
        { type: "agent", name: "a", tools: [], handoffs: [] },
        { type: "function", name: "f", input: "{}", output: "o", mcp_data: "{}" },
        { type: "generation", model: "m", input: [], output: [], usage: {} },
        { type: "response", _response: {}, _input: [] },
        { type: "handoff", from_agent: "a", to_agent: "b" },
        { type: "guardrail", name: "g", triggered: true },
      ]),
    );
  const span = (id: string, parentId: string | null) =>
    anything(random, {
      spanId: id,
      traceId,
      parentId,
      spanData: data(),
      error: anything(random, { message: "m", data: {} }),
      startedAt: time,
      endedAt: time,
    });
  return [
    method(processor, "onTraceStart", trace()),
    method(processor, "onSpanStart", span("span_1", null)),
    method(processor, "onSpanStart", span("span_2", "span_1")),
    method(processor, "onSpanEnd", span("span_2", "span_1")),
    method(processor, "onSpanEnd", span("span_1", null)),
    method(processor, "onTraceEnd", trace()),
    method(processor, "forceFlush"),
  ];
}

/** What an agent's code gives back and throws; the agent gets its own value or error, and no other. */
function agents(random: Random): HostileCall[] {
  const thrown = { value: undefined as unknown };
  const sink = bridge();
  const options = { sink, agent: "a", tenant: "acme", input: hostileLeaf(random) };
  const failing = async () => {
    thrown.value = random.of([() => new Error("own"), () => hostileLeaf(random)])();
    throw thrown.value;
  };
  return [
    {
      what: "runAgent: inputs and results of tools",
      call: () =>
        runAgent(options, async (run) => {
          await run.tool("t", { input: hostileLeaf(random) }, () => [hostileLeaf(random)]);
          await run.model("m", { input: hostileLeaf(random) }, () => [hostileLeaf(random)]);
          return [hostileLeaf(random)];
        }),
    },
    {
      what: "runAgent: what a tool throws",
      call: () =>
        runAgent(options, async (run) => {
          await run.tool("t", failing).catch((error: unknown) => {
            if (!Object.is(error, thrown.value)) throw new Error("expected the tool's own error");
          });
        }),
    },
  ];
}

function functions(random: Random): HostileCall[] {
  const error = () => anything(random, { name: "Error", message: "m", code: "E", cause: {} });
  const carried = () =>
    anything(random, {
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "entelix-root-run-id": seededUuid(random),
      "entelix-parent-run-id": seededUuid(random),
      root_run_id: seededUuid(random),
      parent_run_id: seededUuid(random),
      ENTELIX_ROOT_RUN_ID: seededUuid(random),
      ENTELIX_PARENT_RUN_ID: seededUuid(random),
    });
  const calls = { asAgentError, classifyFailure, classifyToolError, envelopeOf, isAgentError };
  const formats = ["headers", "environment", "message"] as const;
  const carriers = Object.fromEntries(
    formats.map((format) => [
      `extract ${format}`,
      (carrier: Readonly<Record<string, unknown>>) => extract(carrier, { format }),
    ]),
  );
  return [
    ...Object.keys(calls).map((name) => method(calls, name, error())),
    method({ renderForLlm }, "renderForLlm", error()),
    ...Object.keys(carriers).map((name) => method(carriers, name, carried())),
  ];
}

export const CALLS: readonly CallsUnderTest[] = [
  { name: "LangChainHandler", draw: langChain },
  { name: "OpenAIAgentsProcessor", draw: openAiAgents },
  { name: "runAgent", draw: agents },
  { name: "errors and carriers", draw: functions },
];
