import type { ShownSpan, ShownTrace } from "./llm-backend.ts";
import { MODEL } from "./openai-server.ts";

/** The agents of the tests: `llm-NAME.mjs`. */
export const FRAMEWORKS = ["langgraph", "openai-agents", "ai-sdk"] as const;

export type FrameworkName = (typeof FRAMEWORKS)[number];

/** What a backend shows of an agent. */
export interface Shown {
  /** A run that answers though a tool failed. */
  readonly answered: ShownTrace;
  /** A run whose model call failed. */
  readonly failed: ShownTrace;
}

/** A thing that a backend can show. */
export interface BackendRow {
  readonly title: string;
  /** The frameworks that have it. Default: all. */
  readonly of?: readonly FrameworkName[];
  readonly wanted: unknown;
  readonly shown: (shown: Shown) => unknown;
}

const MODELS: readonly unknown[] = ["gpt-4o-mini", MODEL];
const QUESTION = "Refund order 17.";
const ANSWER = "A colleague will refund order 17.";
const FAILURES = /the model is away|the payment gateway is away|Tool execution failed/;

const named = (name: string, { spans }: ShownTrace) =>
  spans.filter((span) => span.name.split(" ")[0] === name);
const kinds = (name: string) => (shown: Shown) => [
  ...new Set(named(name, shown.answered).map(({ kind }) => kind)),
];
const ofChats =
  <T>(read: (span: ShownSpan) => T) =>
  (shown: Shown) =>
    named("chat", shown.answered).map(read);
const ofTool = (name: string, shown: Shown) =>
  shown.answered.spans.find((span) => span.name === `execute_tool ${name}`);
const has = (text: string | undefined, part: string) => text?.includes(part) === true;
/** The text of an error that a framework words in its own way. */
const failure = (span: ShownSpan | undefined) => FAILURES.test(span?.error ?? "");
/** Without the reason why the model stopped, and without the error of `refund`, which frameworks call differently. */
const said = (lines: readonly string[] = []) =>
  lines
    .filter((line) => !line.startsWith("system:"))
    .map((line) => line.replace(/ \(\w+\)$/, "").replace(/^(tool: call_2);.*$/s, "$1"));

export const ROWS: readonly BackendRow[] = [
  {
    title: "list: question and answer of a run",
    wanted: [true, true],
    shown: ({ answered: { request, response } }) => [has(request, QUESTION), has(response, ANSWER)],
  },
  {
    title: "list: question and answer as plain text",
    wanted: [QUESTION, ANSWER],
    // MLflow puts a text in quotes.
    shown: ({ answered: { request, response } }) =>
      [request, response].map((text) => text?.replace(/^"(.*)"$/, "$1")),
  },
  {
    title: "list: question of a run that failed",
    wanted: true,
    shown: ({ failed }) => has(failed.request, "Please break order 17."),
  },
  {
    title: "list: only the run that failed is an error",
    wanted: [false, true],
    shown: ({ answered, failed }) => [answered.failed, failed.failed],
  },
  {
    title: "list: tokens of a run",
    wanted: [1050, 63],
    shown: ({ answered }) => {
      const [input = 0, output = 0] = answered.tokens ?? [];
      // MLflow adds those of embeddings, where it shows them.
      const [embedded] = named("embeddings", answered);
      return [input - (embedded?.tokens?.[0] ?? 0), output];
    },
  },
  {
    title: "list: cost of a run, by the backend's prices",
    // 538 tokens of input at $0.15 a million, 512 cached ones at half, 63 of output at $0.60.
    wanted: "0.000157",
    shown: ({ answered }) => answered.cost?.toFixed(6),
  },
  { title: "list: user", wanted: "user-7", shown: ({ answered }) => answered.user },
  { title: "kind of a run", wanted: ["AGENT"], shown: kinds("invoke_agent") },
  {
    title: "kind of a workflow",
    of: ["openai-agents"],
    wanted: ["CHAIN"],
    shown: kinds("invoke_workflow"),
  },
  { title: "kind of a tool call", wanted: ["TOOL"], shown: kinds("execute_tool") },
  {
    title: "kind of a model call",
    wanted: true,
    shown: (shown) => /^(LLM|CHAT_MODEL)$/.test(kinds("chat")(shown).join()),
  },
  { title: "kind of a step", of: ["langgraph"], wanted: ["CHAIN"], shown: kinds("step") },
  {
    title: "model and provider",
    wanted: Array(3).fill([true, "openai"]),
    // The model that was asked, or the one that answered.
    shown: ofChats(({ model, provider }) => [MODELS.includes(model), provider]),
  },
  {
    title: "parameters of the request",
    wanted: Array(3).fill({ temperature: 0.2 }),
    shown: ofChats(({ parameters }) => parameters),
  },
  {
    title: "messages of a model call, with tool calls and results",
    wanted: [
      [
        `user: ${QUESTION}`,
        'assistant: look_up call_1 {"order":17}',
        'tool: call_1; {"order":17,"state":"delivered"}',
        'assistant: refund call_2 {"order":17}',
        "tool: call_2",
      ],
      [`assistant: ${ANSWER}`],
    ],
    shown: (shown) => {
      const last = named("chat", shown.answered).at(-1);
      return [said(last?.input), said(last?.output)];
    },
  },
  {
    title: "question of a model call that failed",
    wanted: ["user: Please break order 17."],
    shown: ({ failed }) => said(named("chat", failed)[0]?.input),
  },
  {
    title: "system instructions",
    wanted: Array(3).fill(true),
    shown: ofChats(({ input }) => input.includes("system: You help with orders.")),
  },
  {
    title: "tool definitions",
    wanted: Array(3).fill(["look_up", "refund"]),
    shown: ofChats(({ tools }) => tools),
  },
  {
    title: "why the model stopped",
    wanted: Array(3).fill(true),
    shown: ofChats(({ finishReason }) => finishReason !== undefined),
  },
  {
    title: "tokens of a model call, with cached ones",
    wanted: [
      [300, 20, 0],
      [350, 21, 256],
      [400, 22, 256],
    ],
    shown: ofChats(({ cached, tokens = [] }) => [...tokens, cached ?? 0]),
  },
  {
    title: "reasoning tokens",
    wanted: [8, 8, 8],
    shown: ofChats(({ reasoning }) => reasoning),
  },
  {
    title: "arguments of a tool call",
    wanted: '{"order":17}',
    shown: (shown) => ofTool("look_up", shown)?.argument,
  },
  {
    title: "result of a tool call",
    wanted: '{"order":17,"state":"delivered"}',
    shown: (shown) => ofTool("look_up", shown)?.result,
  },
  {
    title: "error of a tool call",
    wanted: "the payment gateway is away",
    shown: (shown) => ofTool("refund", shown)?.error,
  },
  {
    title: "error of a run that failed, and of its model call",
    wanted: [true, true],
    shown: ({ failed }) => ["invoke_agent", "chat"].map((name) => failure(named(name, failed)[0])),
  },
  {
    title: "exception of each span that failed, and of no other",
    wanted: [],
    shown: ({ answered, failed }) =>
      [...answered.spans, ...failed.spans].filter(
        ({ error, exceptions }) => exceptions.length !== (error === undefined ? 0 : 1),
      ),
  },
  {
    title: "query and documents of a retrieval",
    of: ["langgraph"],
    wanted: [true, true],
    shown: ({ answered }) => {
      const [span] = named("retrieval", answered);
      return [has(span?.argument, "order 17"), has(span?.result, "Order 17 was delivered.")];
    },
  },
  {
    title: "kind of a retrieval",
    of: ["langgraph"],
    wanted: ["RETRIEVER"],
    shown: kinds("retrieval"),
  },
  {
    title: "kind and model of a call for embeddings",
    of: ["ai-sdk"],
    wanted: [["EMBEDDING", "text-embedding-3-small"]],
    shown: ({ answered }) => named("embeddings", answered).map(({ kind, model }) => [kind, model]),
  },
  {
    title: "text of a call for embeddings",
    of: ["ai-sdk"],
    wanted: [true],
    shown: ({ answered }) =>
      named("embeddings", answered).map(({ argument }) => has(argument, "order 17")),
  },
];
