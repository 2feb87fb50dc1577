import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LlmBackend, type ShownTrace } from "./support/llm-backend.ts";
import { PHOENIX } from "./support/phoenix.ts";
import { until } from "./support/until.ts";

const PROGRAM = fileURLToPath(new URL("programs/llm-runtime.mjs", import.meta.url));

/** Installing takes minutes when it is not in the cache. */
const INSTALL_MS = 1_800_000;

/** Phoenix's lists read only OpenInference's names: they are empty without this option. */
describe.each(["both", "openinference"])("spans with conventions: %s in Phoenix", (conventions) => {
  let backend: LlmBackend;
  let traces: ReadonlyMap<string, ShownTrace>;

  beforeAll(async () => {
    backend = await LlmBackend.start(PHOENIX);
    expect(await backend.receive(PROGRAM, { CONVENTIONS: conventions })).toBe("");
    traces = await until("every trace is shown", async () => {
      const shown = await backend.traces();
      return shown.size === 3 ? shown : undefined;
    });
  }, INSTALL_MS);
  afterAll(() => backend?.stop());

  const trace = (session: string) => {
    const found = traces.get(session);
    if (found === undefined) throw new Error(`no trace of ${session} in ${[...traces.keys()]}`);
    return found;
  };
  const ofKind = (session: string, wanted: string) =>
    trace(session).spans.filter(({ kind }) => kind === wanted);

  it("have the question and the answer of a run in the list, as text", () => {
    const { request, response } = trace("runtime-1");
    expect([request, response]).toEqual(["Refund order 17.", "A colleague will refund you."]);
    expect(trace("runtime-2").request).toBe("Refund order 17.");
  });

  it("are runs, model calls and tool calls, with their tokens, results and failures", () => {
    expect(ofKind("runtime-1", "AGENT").map(({ name }) => name)).toEqual(["invoke_agent answers"]);
    expect(ofKind("runtime-1", "LLM").map(({ tokens }) => tokens)).toEqual([
      [31, 7],
      [52, 9],
    ]);
    const tools = ofKind("runtime-1", "TOOL").map(({ error, name, result }) => [
      name,
      result,
      error,
    ]);
    expect(tools).toEqual([
      ["execute_tool look_up", '{"order":17,"state":"delivered"}', undefined],
      ["execute_tool refund", undefined, "the payment gateway is away"],
    ]);
    expect([trace("runtime-1").failed, trace("runtime-2").failed]).toEqual([false, true]);
  });

  it("have the conversation", () => {
    const [first, last] = ofKind("runtime-1", "LLM");
    const said = (lines: readonly string[] = []) =>
      lines.map((line) => line.replace(/ \(\w+\)$/, ""));
    const calls = 'assistant: look_up call_1 {"order":17}; refund call_2 {"order":17}';
    expect(said(first?.input)).toEqual(["user: Refund order 17."]);
    expect(said(first?.output)).toEqual([calls]);
    expect(said(last?.input)).toEqual([
      "user: Refund order 17.",
      calls,
      'tool: call_1; {"order":17,"state":"delivered"}',
      "tool: call_2; the payment gateway is away",
    ]);
    expect(said(last?.output)).toEqual(["assistant: A colleague will refund you."]);
  });

  it("are in the session that the application names, of its user", () => {
    const own = [...traces.values()].find(({ user }) => user === "user-7");
    expect(own?.session).toBe("visit-3");
  });
});
