import { describe, expect, it } from "vitest";
import { withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { mcpCounts, RUN_META_KEY } from "../../../src/entries/mcp.ts";
import { observe } from "./observed.ts";
import { McpError, played, Server, text } from "./peers.ts";

const TOOLS = {
  find_order: ({ id }: Readonly<Record<string, unknown>>) => text(`order ${id} is on its way`),
  refuse: () => ({ ...text("no such order"), isError: true }),
  busy: () => {
    throw new McpError(-32603, "the disk is full");
  },
  never: () => new Promise(() => {}),
};

async function scene(options = {}, bridgeOptions = {}) {
  const seen = observe(bridgeOptions);
  const client = seen.client(options);
  const pipe = await seen.connected(client, new Server(TOOLS));
  return { ...seen, pipe, mcp: client };
}

describe("a call inside a run", () => {
  it("is a tool call of the run, with what was given and returned", async () => {
    const { attributes, errors, lines, mcp, of, run } = await scene({}, { captureContent: true });
    const call = { name: "find_order", arguments: { id: 17 } };
    const result = await run(() => mcp.callTool(call));

    expect(result).toEqual(text("order 17 is on its way"));
    expect(lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool find_order: complete",
    ]);
    const [started] = of("started");
    const [start] = of("tool_start");
    const [end] = of("tool_complete");
    expect(start?.event).toMatchObject({
      run_id: started?.event.run_id,
      tenant_id: "acme",
      tool: "find_order",
      input: { id: 17 },
    });
    expect(start?.envelope.details?.mcp).toEqual({
      method: "tools/call",
      protocol_version: "2025-11-25",
    });
    expect(end?.event).toMatchObject({
      tool_use_id: start?.event.tool_use_id,
      output: text("order 17 is on its way"),
    });
    expect(attributes("execute_tool find_order")).toMatchObject({
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2025-11-25",
      "jsonrpc.request.id": "1",
      "gen_ai.tool.call.arguments": '{"id":17}',
      "gen_ai.tool.call.result": JSON.stringify(text("order 17 is on its way")),
    });
    expect(errors).toEqual([]);
    expect(mcpCounts(mcp)).toMatchObject({ reported: 1, faults: 0, sinkFailures: 0 });
  });

  it("has no content on its span by default", async () => {
    const { attributes, mcp, run } = await scene();
    await run(() => mcp.callTool({ name: "find_order", arguments: { id: 17 } }));
    const names = Object.keys(attributes("execute_tool find_order"));
    expect(names.filter((name) => /arguments|result/.test(name))).toEqual([]);
  });

  it("is made with `request` as well", async () => {
    const { lines, mcp, run } = await scene();
    const params = { name: "find_order", arguments: { id: 1 } };
    await run(() => mcp.request({ method: "tools/call", params }));
    expect(lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool find_order: complete",
    ]);
  });

  it("stands below the call of another tool that makes it", async () => {
    const { lines, mcp, run } = await scene();
    await run((agent) => agent.tool("research", () => mcp.callTool({ name: "find_order" })));
    expect(lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool research: complete",
      "    execute_tool find_order: complete",
    ]);
  });

  it("has no second span where the framework's tool of its name is open, but carries its context", async () => {
    const { lines, mcp, pipe, run, spans } = await scene();
    await run((agent) =>
      agent.tool("shop__find-order", () => mcp.callTool({ name: "find_order" })),
    );
    expect(lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool shop__find-order: complete",
    ]);
    const open = spans().find(({ name }) => name === "execute_tool shop__find-order");
    expect(metaOf(pipe.sent[0])?.traceparent).toContain(open?.spanContext().spanId);
    expect(mcpCounts(mcp)).toMatchObject({ shownElsewhere: 1, reported: 0 });
  });

  it("of each tenant is of that tenant", async () => {
    const { mcp, of, sink } = await scene();
    const calls = ["acme", "globex"].map((tenant, id) =>
      runAgent({ sink, agent: "support", tenant }, () =>
        mcp.callTool({ name: "find_order", arguments: { id } }),
      ),
    );
    await played(Promise.all(calls));
    const runs = new Map(of("started").map(({ event }) => [event.run_id, event.tenant_id]));
    expect([...runs.values()].sort()).toEqual(["acme", "globex"]);
    const ends = [...of("tool_start"), ...of("tool_complete")];
    expect(ends).toHaveLength(4);
    for (const { event } of ends) expect(event.tenant_id).toBe(runs.get(event.run_id));
  });
});

describe("what requests carry", () => {
  it("is the call's trace, and the run under this package's key", async () => {
    const { mcp, of, pipe, run, spans } = await scene();
    await run(() => mcp.callTool({ name: "find_order", _meta: { progressToken: 4 } }));
    const span = spans().find(({ name }) => name === "execute_tool find_order");
    const { traceId, spanId } = span?.spanContext() ?? {};
    const runId = of("started")[0]?.event.run_id;
    expect(metaOf(pipe.sent[0])).toEqual({
      progressToken: 4,
      traceparent: `00-${traceId}-${spanId}-01`,
      [RUN_META_KEY]: {
        root_run_id: runId,
        parent_run_id: runId,
        parent_tool_use_id: of("tool_start")[0]?.event.tool_use_id,
      },
    });
    expect(RUN_META_KEY).toMatch(/^[a-z]([a-z0-9-]*[a-z0-9])?\/[a-z]+$/);
  });

  it("is the run's for other requests of the run, and nothing outside of one", async () => {
    const { mcp, pipe, run, spans } = await scene();
    await run(() => mcp.request({ method: "ping" }).catch(() => {}));
    await run(() => mcp.request({ method: "tools/list" }).catch(() => {}));
    await played(mcp.request({ method: "tools/list" }).catch(() => {}));
    const [ping, inside, outside] = pipe.sent;
    expect(ping).toEqual({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(metaOf(inside)?.traceparent).toContain(spans()[1]?.spanContext().spanId);
    expect(outside).toEqual({ jsonrpc: "2.0", id: 3, method: "tools/list" });
  });

  it("leaves the caller's own trace as it is", async () => {
    const { mcp, pipe, run } = await scene();
    const own = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
    await run(() => mcp.callTool({ name: "find_order", _meta: { traceparent: own } }));
    expect(metaOf(pipe.sent[0])).toMatchObject({ traceparent: own });
    expect(metaOf(pipe.sent[0])).not.toHaveProperty("tracestate");
  });

  it.each([
    ["trace", ["traceparent"]],
    ["none", []],
  ])("with propagate: %s is %j", async (propagate, keys) => {
    const { mcp, pipe, run } = await scene({ propagate });
    await run(() => mcp.callTool({ name: "find_order" }));
    expect(Object.keys(metaOf(pipe.sent[0]) ?? {})).toEqual(keys);
  });
});

describe("a call that fails", () => {
  it("by its result is a tool error, and the run goes on", async () => {
    const { lines, mcp, of, run } = await scene();
    const result = await run(() => mcp.callTool({ name: "refuse" }));
    expect(result.isError).toBe(true);
    expect(lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool refuse: error ERROR",
    ]);
    expect(of("tool_error")[0]?.event).toMatchObject({
      kind: "internal",
      error_for_llm: "no such order",
      envelope: { wire_code: "tool_result_error", origin: "tool" },
    });
  });

  it("is what `isFailure` says", async () => {
    const { mcp, of, run } = await scene({ isFailure: () => "validation" });
    await run(() => mcp.callTool({ name: "find_order" }));
    expect(of("tool_error")[0]?.event.kind).toBe("validation");
  });

  it("by a JSON-RPC error has its code, and ends the run as a failure of the tool", async () => {
    const { attributes, mcp, of, run } = await scene();
    await expect(run(() => mcp.callTool({ name: "busy" }))).rejects.toThrow("the disk is full");
    expect(of("tool_error")[0]?.event).toMatchObject({
      kind: "internal",
      error: "the disk is full",
      error_for_llm: "",
    });
    expect(of("tool_error")[0]?.envelope.details).toMatchObject({
      model_text: "unknown",
      mcp: { request_id: "1", status_code: "-32603" },
      exception: { type: "McpError", message: "the disk is full" },
    });
    expect(of("failed")[0]?.event.kind).toEqual({
      type: "tool_error_terminal",
      kind: "internal",
      tool_name: "busy",
    });
    expect(attributes("execute_tool busy")["rpc.response.status_code"]).toBe("-32603");
    expect(attributes("invoke_agent support")["entelix.failure.origin"]).toBe("tool");
  });

  it("by the client's time limit is transient", async () => {
    const { mcp, of, run } = await scene();
    const call = run(() => mcp.callTool({ name: "never" }, undefined, { timeout: true }));
    await expect(call).rejects.toThrow("Request timed out");
    expect(of("tool_error")[0]?.event.kind).toBe("transient");
    expect(of("tool_error")[0]?.event.envelope.cancelled).toBeUndefined();
  });

  it.each([
    ["an abort", new Error("the user left"), "cancelled"],
    ["a time limit of the caller's", new DOMException("late", "TimeoutError"), "error"],
  ])("by %s has the outcome %3$s", async (_, reason, outcome) => {
    const { attributes, mcp, run } = await scene();
    const caller = new AbortController();
    const call = run(() => {
      const made = mcp.callTool({ name: "never" }, undefined, { signal: caller.signal });
      caller.abort(reason);
      return made;
    });
    await expect(call).rejects.toThrow("-32001");
    const span = attributes("execute_tool never");
    expect(span["entelix.tool.outcome"]).toBe(outcome);
    expect(span["entelix.tool.error_kind"]).toBe(outcome === "error" ? "transient" : undefined);
  });

  it.each<readonly [string, unknown]>([
    ["a text", "left"],
    ["an object", { a: 1 }],
    ["an error", new Error("the user left")],
    ["no reason", undefined],
  ])(
    "cancels the run that fails with its error, if the caller's signal has %s",
    async (_, reason) => {
      const { attributes, mcp, of, run } = await scene();
      const caller = new AbortController();
      const made = () => {
        const never = mcp.callTool({ name: "never" }, undefined, { signal: caller.signal });
        caller.abort(reason);
        return never;
      };
      await expect(
        run(() => runAgent({ agent: "inner" }, (inner) => inner.step("ask", made))),
      ).rejects.toThrow("-32001");
      expect(of("failed").map(({ event }) => event.kind)).toEqual([
        { type: "cancelled" },
        { type: "cancelled" },
      ]);
      expect(attributes("execute_tool never")["entelix.tool.outcome"]).toBe("cancelled");
    },
  );

  it("fails the run that throws another error after it was called off", async () => {
    const { mcp, of, run } = await scene();
    const caller = new AbortController();
    const call = run(async () => {
      try {
        const never = mcp.callTool({ name: "never" }, undefined, { signal: caller.signal });
        caller.abort("left");
        await never;
      } catch (cause) {
        throw new Error("no other way", { cause });
      }
    });
    await expect(call).rejects.toThrow("no other way");
    expect(of("failed")[0]?.event.kind?.type).toBe("tool_error_terminal");
  });

  it.each([
    ["is called off", () => new AbortController()],
    ["completes without it", () => undefined],
  ])("is cancelled before its run ends, where the run %s first", async (_, controllerOf) => {
    const { mcp, sink, told } = await scene();
    const controller = controllerOf();
    const options = { sink, agent: "support", tenant: "acme", signal: controller?.signal };
    const ended = runAgent(options, async () => {
      const made = mcp.callTool({ name: "never" });
      await new Promise((resolve) => setImmediate(resolve));
      controller?.abort();
      if (controller !== undefined) await made;
    });
    await ended.catch(() => {});
    expect(told.slice(1).map(({ event }) => event.type)).toEqual([
      "tool_start",
      "tool_error",
      controller === undefined ? "complete" : "failed",
    ]);
    expect(told[2]?.event).toMatchObject({ envelope: { cancelled: true } });
  });

  it("because the connection closed is transient", async () => {
    const { mcp, of, pipe, run } = await scene();
    const call = run(async () => {
      const made = mcp.callTool({ name: "never" });
      await pipe.close();
      return made;
    });
    await expect(call).rejects.toThrow("Connection closed");
    expect(of("tool_error")[0]?.event).toMatchObject({
      kind: "transient",
      envelope: { wire_code: "transport_failure", origin: "tool" },
    });
  });

  it("because a person must first open an address is no failure", async () => {
    const seen = observe();
    const mcp = seen.client();
    const consent = () => {
      throw new McpError(-32042, "open https://shop.example");
    };
    await seen.connected(mcp, new Server({ consent }));
    await seen.run(() => mcp.callTool({ name: "consent" }).catch(() => "asked"));
    expect(seen.lines()).toEqual([
      "invoke_agent support: complete",
      "  execute_tool consent: interrupted",
    ]);
  });
});

describe("a call outside any run", () => {
  it("is not reported without a sink", async () => {
    const { mcp, pipe, told } = await scene();
    await played(mcp.callTool({ name: "find_order" }));
    expect(told).toEqual([]);
    expect(metaOf(pipe.sent[0])).toBeUndefined();
    expect(mcpCounts(mcp)).toMatchObject({ skipped: 1, reported: 0 });
  });

  it("is a run of its own with a sink and a tenant", async () => {
    const seen = observe();
    const mcp = seen.client({
      sink: seen.sink,
      tenant: ({ tool, arguments: args }) => `${tool}-${JSON.stringify(args)}`,
      context: () => ({ user: "ada" }),
    });
    await seen.connected(mcp, new Server(TOOLS));
    await played(mcp.callTool({ name: "find_order", arguments: { id: 1 } }));
    await expect(played(mcp.callTool({ name: "busy" }))).rejects.toThrow();
    expect(seen.lines()).toEqual([
      "invoke_agent find_order: complete",
      "  execute_tool find_order: complete",
      "invoke_agent busy: failed ERROR",
      "  execute_tool busy: error ERROR",
    ]);
    expect(seen.attributes("invoke_agent find_order")).toMatchObject({
      "entelix.tenant_id": 'find_order-{"id":1}',
      "user.id": "ada",
    });
    expect(seen.attributes("invoke_agent busy")["entelix.failure.kind"]).toBe(
      "tool_error_terminal",
    );
  });
});

describe("trouble of ours", () => {
  it("does not reach the caller", async () => {
    const { errors, mcp } = await scene();
    const sink = {
      send() {
        throw new Error("the sink is broken");
      },
    };
    const run = { tenantId: "acme", runId: "r1", rootRunId: "r1", sink };
    const result = await played(
      withCurrentRun(run, () => mcp.callTool({ name: "find_order", arguments: { id: 2 } })),
    );
    expect(result).toEqual(text("order 2 is on its way"));
    expect(errors.map(String)).toEqual(Array(2).fill("Error: the sink is broken"));
    expect(mcpCounts(mcp)).toMatchObject({ sinkFailures: 2, faults: 0 });
  });

  it("is a TypeError where an option or the client is wrong", () => {
    const { client } = observe();
    expect(() => client({ tenant: "" })).toThrow("tenant: expected a text that is not empty");
    expect(() => client({ loneCalls: "run" })).toThrow("needs the options sink and tenant");
    expect(() => client(JSON.parse('{"propagate":"all"}'))).toThrow("propagate: expected run or");
  });
});

describe("a client that is wrapped", () => {
  it("a second time reports each call once", async () => {
    const seen = observe();
    const mcp = seen.client();
    const { mcpClient } = await import("../../../src/entries/mcp.ts");
    expect(mcpClient(mcp)).toBe(mcp);
    await seen.connected(mcp, new Server(TOOLS));
    await seen.run(() => mcp.callTool({ name: "find_order" }));
    expect(seen.of("tool_start")).toHaveLength(1);
  });

  it("after it has connected carries the context all the same", async () => {
    const seen = observe();
    const { mcpClient } = await import("../../../src/entries/mcp.ts");
    const { Client } = await import("./peers.ts");
    const plain = new Client();
    const pipe = await seen.connected(plain, new Server(TOOLS));
    const mcp = mcpClient(plain);
    await seen.run(() => mcp.callTool({ name: "find_order" }));
    expect(metaOf(pipe.sent[0])).toHaveProperty("traceparent");
    expect(seen.attributes("execute_tool find_order")).toMatchObject({
      "mcp.method.name": "tools/call",
      "jsonrpc.request.id": "1",
    });
  });
});

function metaOf(message: unknown): Readonly<Record<string, unknown>> | undefined {
  const read: { params?: { _meta?: Record<string, unknown> } } = JSON.parse(
    JSON.stringify(message),
  );
  return read.params?._meta;
}
