import { afterEach, describe, expect, it, vi } from "vitest";
import { currentRunContext } from "../../../src/entries/context.ts";
import { currentRun, runAgent } from "../../../src/entries/runtime.ts";
import { observe, play, prompts } from "./observed.ts";
import { INIT, result, type ScriptedProcess, scripted } from "./scripted-sdk.ts";

const works = async (sdk: ScriptedProcess) => sdk.send(INIT, result("ok"));
const deferred = {
  terminal_reason: "tool_deferred",
  deferred_tool_use: { id: "t1", name: "Bash", input: {} },
};
const pauses = async (sdk: ScriptedProcess) => sdk.send(INIT, result("", deferred));

afterEach(() => vi.unstubAllEnvs());

describe("the environment of the process", () => {
  it("names the run of the prompt", async () => {
    const seen = observe();
    const { process } = await play(seen, works, { options: { env: { LANG: "de_DE.UTF-8" } } });
    const [started] = seen.of("started");
    const span = seen.find("invoke_agent claude")?.spanContext();
    expect(process?.params.options?.env).toEqual({
      LANG: "de_DE.UTF-8",
      TRACEPARENT: `00-${span?.traceId}-${span?.spanId}-01`,
      ENTELIX_ROOT_RUN_ID: started?.event.run_id,
      ENTELIX_PARENT_RUN_ID: started?.event.run_id,
      ENTELIX_THREAD_ID: started?.envelope.thread_id,
    });
  });

  it("is that of this process without the option, but names no other run", async () => {
    vi.stubEnv("TRACEPARENT", "00-11111111111111111111111111111111-2222222222222222-01");
    vi.stubEnv("ENTELIX_PARENT_TOOL_USE_ID", "of-another-run");
    vi.stubEnv("MARK", "1");
    const seen = observe();
    const { process } = await play(seen, works);
    const env = process?.params.options?.env;
    expect(env?.MARK).toBe("1");
    expect(env?.TRACEPARENT).toContain(seen.spans()[0]?.spanContext().traceId);
    expect(env).not.toHaveProperty("ENTELIX_PARENT_TOOL_USE_ID");
  });

  it("is that of the moment at which the SDK reads the option, once for each query", async () => {
    vi.stubEnv("MARK", "1");
    const seen = observe();
    const options = { model: "one" };
    const envs: unknown[] = [];
    const models: unknown[] = [];
    const reads = async ({ params }: ScriptedProcess) => {
      // As the SDK does: its parts are taken out of the options, and the environment is copied.
      const { env, ...rest } = { ...params.options };
      expect(params.options?.env).toBe(env);
      envs.push({ ...env }.MARK);
      models.push(rest.model);
    };
    await play(seen, reads, { options });
    vi.stubEnv("MARK", "2");
    options.model = "two";
    await play(seen, reads, { options });
    expect([envs, models]).toEqual([
      ["1", "2"],
      ["one", "two"],
    ]);
    expect(options).toEqual({ model: "two" });
  });

  it("can be read from options that were frozen", async () => {
    const seen = observe();
    const { process } = await play(seen, works, { options: { env: { MARK: "1" } } });
    const options = Object.freeze(process?.params.options ?? {});
    expect(options.env).toMatchObject({ MARK: "1", ENTELIX_ROOT_RUN_ID: expect.any(String) });
    expect(options.env).toBe(options.env);
  });

  it("is not copied where nothing reads it, and may be replaced", async () => {
    const read = vi.fn(() => "1");
    const env = Object.defineProperty({}, "MARK", { get: read, enumerable: true });
    const seen = observe();
    const { process } = await play(seen, works, { options: { env } });
    expect(read).not.toHaveBeenCalled();
    const options = process?.params.options ?? {};
    expect(Object.assign(options, { env: { MARK: "2" } }).env).toEqual({ MARK: "2" });
    expect(read).not.toHaveBeenCalled();
  });

  it("keeps what the application sets", async () => {
    const seen = observe();
    const own = { TRACEPARENT: "00-mine", ENTELIX_THREAD_ID: "mine" };
    const { process } = await play(seen, works, { options: { env: own } });
    expect(process?.params.options?.env).toMatchObject({
      ...own,
      ENTELIX_PARENT_RUN_ID: seen.of("started")[0]?.event.run_id,
    });
  });

  it("names no run in the streaming input mode: it would be that of the first prompt for all", async () => {
    const seen = observe();
    const { process } = await play(seen, works, { prompt: prompts() });
    expect(process?.params.options).not.toHaveProperty("env");
  });

  it("names IDs alone where the sink makes no spans", async () => {
    const told: unknown[] = [];
    const seen = observe({ sink: { send: (event) => void told.push(event) } });
    const { process } = await play(seen, works, { options: { env: {} } });
    expect(Object.keys(process?.params.options?.env ?? {}).sort()).toEqual([
      ...["ENTELIX_PARENT_RUN_ID", "ENTELIX_ROOT_RUN_ID", "ENTELIX_THREAD_ID"],
    ]);
  });
});

describe("the conversation", () => {
  it("has an ID before the process says it, which the process gets", async () => {
    const seen = observe();
    const { process } = await play(seen, works);
    const sessionId = process?.params.options?.sessionId;
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen.of("started")[0]?.envelope.thread_id).toBe(sessionId);
  });

  it.each([
    ["its own ID", { sessionId: "mine" }, "mine"],
    ["that which is resumed", { resume: "s0" }, "s0"],
  ])("has %s", async (_, options, thread) => {
    const seen = observe();
    await play(seen, works, { options });
    expect(seen.of("started")[0]?.envelope.thread_id).toBe(thread);
  });

  it("that is resumed after a complete run has a new run, which resumes nothing", async () => {
    const seen = observe();
    const { process } = await play(seen, works);
    const resume = process?.sessionId ?? "";
    await play(seen, works, { options: { resume } });
    const [first, second] = seen.of("started");
    expect(second?.envelope.resumed_from_run_id).toBeUndefined();
    expect(second?.envelope.thread_id).toBe(first?.envelope.thread_id);
    expect(seen.spans()[1]?.attributes).not.toHaveProperty("entelix.run.resumed_from");
    expect(seen.agent.lastRunOf("acme", resume)).toBeUndefined();
  });

  it("that is resumed after a failed run has a new run, which resumes nothing", async () => {
    const seen = observe();
    const { process } = await play(seen, async (sdk) => sdk.send(INIT));
    const resume = process?.sessionId ?? "";
    await play(seen, works, { options: { resume } });
    expect(seen.of("started")[1]?.envelope.resumed_from_run_id).toBeUndefined();
  });

  it("that is resumed in this process is linked to its paused run", async () => {
    const seen = observe();
    const { process } = await play(seen, pauses);
    const resume = process?.sessionId ?? "";
    await play(seen, pauses, { options: { resume } });
    await play(seen, works, { options: { resume, forkSession: true } });
    const [first, second, fork] = seen.of("started");
    expect(first?.envelope.resumed_from_run_id).toBeUndefined();
    expect(second?.envelope.resumed_from_run_id).toBe(first?.event.run_id);
    expect(second?.envelope.thread_id).toBe(resume);
    expect(fork?.envelope.resumed_from_run_id).toBe(second?.event.run_id);
    expect(fork?.envelope.thread_id).not.toBe(resume);
    const spans = seen.spans();
    expect(spans[1]?.attributes["entelix.run.resumed_from"]).toBe(first?.event.run_id);
    expect(spans[1]?.links.map(({ context }) => context.spanId)).toEqual([
      spans[0]?.spanContext().spanId,
    ]);
  });

  it("that is resumed in this process has the subject of its last run, which the hook does not give", async () => {
    const context = ({ user }: Readonly<Record<string, unknown>>) => ({
      user: user === undefined ? undefined : String(user),
      tags: user === undefined ? [] : ["vip"],
    });
    const seen = observe({ context });
    const { process } = await play(seen, works, {}, { metadata: { user: "ann" } });
    const resume = process?.sessionId ?? "";
    await play(seen, works, { options: { resume } });
    await play(seen, works, { options: { resume } }, { metadata: { user: "eve" } });
    await play(seen, works, { options: { resume } }, { metadata: { tenant_id: "globex" } });
    expect(seen.of("started").map(({ envelope }) => envelope.details?.user_id)).toEqual([
      "ann",
      "ann",
      "eve",
      undefined,
    ]);
    expect(seen.of("started")[1]?.envelope.details?.tags).toEqual(["vip"]);
    expect(seen.of("started")[3]?.envelope.resumed_from_run_id).toBeUndefined();
  });

  it("that is resumed in another process is linked to the run that you name", async () => {
    const here = observe();
    const { process } = await play(here, pauses);
    const sessionId = process?.sessionId ?? "";
    const runId = here.agent.lastRunOf("acme", sessionId);
    expect(runId).toBe(here.of("started")[0]?.event.run_id);
    expect(here.agent.lastRunOf("globex", sessionId)).toBeUndefined();
    const there = observe();
    const details = { resumedFromRunId: runId };
    await play(there, works, { options: { resume: sessionId } }, details);
    expect(there.of("started")[0]?.envelope.resumed_from_run_id).toBe(runId);
  });
});

describe("a conversation that is continued", () => {
  it("is known once the process says it: the run begins then", async () => {
    const seen = observe();
    const { process } = await play(
      seen,
      async (sdk) => {
        expect(seen.told).toEqual([]);
        sdk.sessionId = "s7";
        await sdk.prompt("hi");
        sdk.send(result("ok"));
      },
      { options: { continue: true } },
    );
    expect(seen.lines()).toEqual(["started claude", "complete"]);
    expect(seen.told.map(({ envelope }) => envelope.thread_id)).toEqual(["s7", "s7"]);
    expect(process?.params.options).not.toHaveProperty("env");
    expect(process?.params.options).not.toHaveProperty("sessionId");
  });

  it("is linked to its paused run in this process, and has its subject", async () => {
    const context = ({ user }: Readonly<Record<string, unknown>>) => ({
      user: user === undefined ? undefined : String(user),
    });
    const seen = observe({ context });
    const { process } = await play(seen, pauses, {}, { metadata: { user: "ann" } });
    const goesOn = async (sdk: ScriptedProcess) => {
      sdk.sessionId = process?.sessionId ?? "";
      await sdk.prompt("hi");
      sdk.send(result("ok"));
    };
    await play(seen, goesOn, { options: { continue: true } });
    const [first, second] = seen.of("started");
    expect(second?.envelope.resumed_from_run_id).toBe(first?.event.run_id);
    expect(second?.envelope.details?.user_id).toBe("ann");
    const globex = { metadata: { tenant_id: "globex" } };
    await play(seen, goesOn, { options: { continue: true } }, globex);
    expect(seen.of("started")[2]?.envelope.resumed_from_run_id).toBeUndefined();
  });
});

describe("a query inside a run of this package", () => {
  it("is its child, below the tool call, of its tenant", async () => {
    const seen = observe({ tenant: "of-the-option" });
    const { processes, query } = scripted(works);
    await runAgent({ sink: seen.sink, agent: "support", tenant: "acme", user: "u1" }, (run) =>
      run.tool("ask", async () => {
        for await (const _ of seen.agent.query(query, { prompt: "hi", options: { env: {} } }));
      }),
    );
    expect(seen.tree()).toEqual([
      "invoke_agent support complete",
      "  execute_tool ask complete",
      "    invoke_agent claude complete",
    ]);
    const [outer, inner] = seen.of("started");
    expect(inner?.event).toMatchObject({ tenant_id: "acme", parent_run_id: outer?.event.run_id });
    expect(inner?.envelope.details?.user_id).toBe("u1");
    expect(processes[0]?.params.options?.env?.ENTELIX_ROOT_RUN_ID).toBe(outer?.event.run_id);
  });

  it("in the streaming input mode: the process gets the context of that run", async () => {
    const seen = observe();
    const { processes, query } = scripted(works);
    let callId: string | undefined;
    await runAgent({ sink: seen.sink, agent: "support", tenant: "acme" }, (run) =>
      run.tool("ask", async () => {
        callId = currentRun()?.toolUseId;
        const options = { env: {} };
        for await (const _ of seen.agent.query(query, { prompt: prompts(), options }));
      }),
    );
    expect(processes[0]?.params.options?.env).toMatchObject({
      ENTELIX_PARENT_RUN_ID: seen.of("started")[0]?.event.run_id,
      ENTELIX_PARENT_TOOL_USE_ID: callId,
    });
  });

  it("of another tenant has a trace of its own", async () => {
    const seen = observe({ tenant: () => "globex" });
    const { query } = scripted(works);
    await runAgent({ sink: seen.sink, agent: "support", tenant: "acme" }, async () => {
      for await (const _ of seen.agent.query(query, { prompt: "hi" }));
    });
    const [outer, inner] = seen.of("started");
    expect(inner?.event).toMatchObject({ tenant_id: "globex", parent_run_id: null });
    expect(inner?.envelope.root_run_id).toBeUndefined();
    expect(outer?.event.tenant_id).toBe("acme");
  });
});

describe("whose run it is", () => {
  it("says the option context, from the metadata, which is not sent", async () => {
    const seen = observe({ context: ({ user }) => ({ user: String(user), tags: ["vip"] }) });
    await play(seen, works, {}, { metadata: { user: "u1", secret: "s3cret" } });
    for (const { envelope } of seen.told) {
      expect(envelope.details).toMatchObject({ user_id: "u1", tags: ["vip"] });
    }
    expect(JSON.stringify(seen.told)).not.toContain("s3cret");
  });

  it("is a tenant of the metadata", async () => {
    const seen = observe();
    await play(seen, works, {}, { metadata: { tenant_id: "globex" } });
    expect(seen.of("started")[0]?.event.tenant_id).toBe("globex");
  });
});

describe("inSpan", () => {
  const extra = { _meta: { "claudecode/toolUseId": "t1" } };

  it("runs the handler inside the span of its call: runs that it starts are children", async () => {
    const seen = observe();
    const handler = seen.agent.inSpan(async ({ id }: { id: number }, _extra: unknown) => {
      const context = currentRunContext();
      await runAgent({ agent: "expert" }, () => id);
      return context;
    });
    let context: unknown;
    await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "mcp__shop__lookup", { id: 17 });
      context = await handler({ id: 17 }, extra);
      await sdk.after("t1", "mcp__shop__lookup", "ok");
      sdk.send(result("ok"));
    });
    expect(context).toMatchObject({ parent_tool_use_id: "t1" });
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  execute_tool mcp__shop__lookup complete",
      "    invoke_agent expert complete",
    ]);
  });

  it("calls the handler without a span where the call is not known", async () => {
    const seen = observe();
    const handler = seen.agent.inSpan((a: number, _extra: unknown) => [a, currentRun()]);
    expect(handler(1, extra)).toEqual([1, undefined]);
    expect(handler(2, undefined)).toEqual([2, undefined]);
    expect(seen.told).toEqual([]);
  });
});
