import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LlmBackend, type ShownSpan, type ShownTrace } from "./support/llm-backend.ts";
import { MLFLOW } from "./support/mlflow.ts";
import { PHOENIX } from "./support/phoenix.ts";
import { until } from "./support/until.ts";

/**
 * Each program has two runs, and their conversations are named after it: `…-1` answers although a tool failed, the
 * model of `…-2` fails.
 */
const PROGRAMS = ["langgraph", "openai-agents", "runtime"];

const path = (program: string) =>
  fileURLToPath(new URL(`programs/llm-${program}.mjs`, import.meta.url));

const QUESTION = "user: Refund order 17.";
const CALLS = 'assistant: look_up call_1 {"order":17}; refund call_2 {"order":17}';
const FOUND = '{"order":17,"state":"delivered"}';
const TOOL_FAILURE = "the payment gateway is away";
const ANSWER = "assistant: A colleague will refund you.";
const MODEL_FAILURE = "the model is away";
/** A run of a person, in a conversation and in the session `visit-3`: to both backends the former counts. */
const [USER, CONVERSATION] = ["user-7", "runtime-3"];

/** At the end of an output message. */
const REASON = / \(\w+\)$/;

const CONVERSATIONS = PROGRAMS.flatMap((program) => [`${program}-1`, `${program}-2`]);

/** The nodes of the graph. Other programs have no steps. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  langgraph: ["step agent", "step tools", "step agent"],
};

/** Installing takes minutes when it is not in the cache. */
const INSTALL_MS = 1_800_000;

describe.each([
  {
    ...PHOENIX,
    kinds: { run: "AGENT", model: "LLM", tool: "TOOL", step: "UNKNOWN" },
    // Its lists read only OpenInference's `input.value` and `output.value`.
    listed: { request: undefined, response: undefined },
  },
  {
    ...MLFLOW,
    kinds: { run: "AGENT", model: "CHAT_MODEL", tool: "TOOL", step: undefined },
    listed: {
      request: expect.stringContaining("Refund order 17."),
      response: expect.stringContaining("A colleague will refund you."),
    },
  },
])("spans of the built package in $name", ({ kinds, listed, ...kind }) => {
  let backend: LlmBackend;
  let traces: ReadonlyMap<string, ShownTrace>;

  beforeAll(async () => {
    backend = await LlmBackend.start(kind);
    for (const program of PROGRAMS) expect(await backend.receive(path(program))).toBe("");
    traces = await until("every trace is shown", async () => {
      const shown = await backend.traces();
      return [...shown.values()].every(isComplete) && shown.size === CONVERSATIONS.length + 1
        ? shown
        : undefined;
    });
  }, INSTALL_MS);
  afterAll(() => backend?.stop());

  const trace = (session: string) => {
    const found = traces.get(session);
    if (found === undefined) throw new Error(`no trace of ${session}`);
    return found;
  };
  const ofKind = (session: string, wanted: string | undefined) =>
    trace(session).spans.filter((span) => span.kind === wanted);
  const only = (session: string, wanted: string) => {
    const [span, ...more] = ofKind(session, wanted);
    if (span === undefined || more.length > 0) throw new Error(`${session}: not one ${wanted}`);
    return span;
  };

  it("are traces in the sessions of their conversations", () => {
    expect([...traces.keys()].sort()).toEqual([...CONVERSATIONS, CONVERSATION]);
  });

  it("name the user of a run", () => {
    expect(trace(CONVERSATION).user).toBe(USER);
    expect(trace("runtime-1").user).toBeUndefined();
  });

  describe.each(PROGRAMS)("%s", (program) => {
    const [answers, fails] = [`${program}-1`, `${program}-2`];

    it("has a run with its model calls and tool calls", () => {
      const names = (wanted: string | undefined) => ofKind(answers, wanted).map(({ name }) => name);
      expect(names(kinds.run)).toEqual(["invoke_agent answers"]);
      expect(names(kinds.model)).toHaveLength(2);
      expect(names(kinds.tool).sort()).toEqual(["execute_tool look_up", "execute_tool refund"]);
      const steps = STEPS[program] ?? [];
      expect(names(kinds.step)).toEqual(steps);
      expect(trace(answers).spans).toHaveLength(5 + steps.length);
    });

    it("has the tokens of each model call", () => {
      expect(ofKind(answers, kinds.model).map(({ tokens }) => tokens)).toEqual([
        [31, 7],
        [52, 9],
      ]);
    });

    it("has the result of a tool call, and the error of one that failed", () => {
      const tools = new Map(ofKind(answers, kinds.tool).map((span) => [span.name, span]));
      expect(tools.get("execute_tool look_up")).toMatchObject({ result: FOUND, error: undefined });
      expect(tools.get("execute_tool refund")).toMatchObject({
        result: undefined,
        error: TOOL_FAILURE,
      });
      expect(trace(answers).failed).toBe(false);
    });

    it("has the error of a run that failed, and of its model call", () => {
      expect(trace(fails).failed).toBe(true);
      expect(only(fails, kinds.run).error).toBe(MODEL_FAILURE);
      expect(only(fails, kinds.model).error).toBe(MODEL_FAILURE);
    });
  });

  describe.each(PROGRAMS)("%s", (program) => {
    const [answers, fails] = [`${program}-1`, `${program}-2`];

    it("has the conversation", () => {
      const [first, last] = ofKind(answers, kinds.model);
      expect(said(first?.input)).toEqual([QUESTION]);
      expect(said(first?.output)).toEqual([CALLS]);
      const [question, calls, found, failed, ...more] = said(last?.input);
      expect([question, calls]).toEqual([QUESTION, CALLS]);
      expect(found).toBe(`tool: call_1; ${FOUND}`);
      expect(failed).toMatch(/^tool: call_2; /);
      expect(failed).toContain(TOOL_FAILURE);
      expect(more).toEqual([]);
      expect(said(last?.output)).toEqual([ANSWER]);
    });

    it("has a finish reason for each output message", () => {
      const lines = ofKind(answers, kinds.model).flatMap(({ output }) => output);
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line).toMatch(REASON);
    });

    it("has the question of a model call that failed", () => {
      expect(said(only(fails, kinds.model).input)).toEqual([QUESTION]);
    });

    it("has the question and the answer of a run", () => {
      const run = only(answers, kinds.run);
      expect([said(run.input), said(run.output)]).toEqual([[QUESTION], [ANSWER]]);
      const failed = only(fails, kinds.run);
      expect([said(failed.input), said(failed.output)]).toEqual([[QUESTION], []]);
    });

    it("has them in the list of traces, where the backend reads the conventions there", () => {
      const { request, response } = trace(answers);
      expect({ request, response }).toEqual(listed);
      expect(trace(fails).request).toEqual(listed.request);
    });

    it("has an exception event on each span that failed, and on no other", () => {
      const exceptions = (session: string) =>
        trace(session).spans.map((span) => [span.name.split(" ")[0], ...span.exceptions]);
      expect(exceptions(answers).filter(([, ...messages]) => messages.length > 0)).toEqual([
        ["execute_tool", TOOL_FAILURE],
      ]);
      // Spans that start in the same millisecond come in any order.
      const step = program in STEPS ? [["step", MODEL_FAILURE]] : [];
      expect(exceptions(fails).sort()).toEqual([
        ["chat", MODEL_FAILURE],
        ["invoke_agent", MODEL_FAILURE],
        ...step,
      ]);
    });
  });
});

/** Its root has arrived, which comes last. */
function isComplete({ spans }: ShownTrace): boolean {
  return spans.some(({ name }) => name.startsWith("invoke_agent "));
}

/** Without the reason why the model stopped, which frameworks call differently. */
function said(lines: ShownSpan["input"] = []): string[] {
  return lines.map((line) => line.replace(REASON, ""));
}
