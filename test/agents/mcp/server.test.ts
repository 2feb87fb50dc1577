import { describe, expect, it } from "vitest";
import { type McpCaller, mcpCounts, RUN_META_KEY } from "../../../src/entries/mcp.ts";
import { currentRun } from "../../../src/entries/runtime.ts";
import { observe } from "./observed.ts";
import { Client, McpError, Pipe, played, settle, text } from "./peers.ts";

const TRACE = "a".repeat(32);
const TRACEPARENT = `00-${TRACE}-${"b".repeat(16)}-01`;
const META = {
  traceparent: TRACEPARENT,
  tracestate: "vendor=1",
  [RUN_META_KEY]: {
    root_run_id: "top",
    parent_run_id: "run-7",
    parent_tool_use_id: "call-3",
    thread_id: "conversation-1",
  },
};

const TOOLS = {
  find_order: ({ id }: Readonly<Record<string, unknown>>) => text(`order ${id} is on its way`),
};

/** A caller that is not ours: it sends what it likes. */
async function called(
  seen: ReturnType<typeof observe>,
  server: ReturnType<ReturnType<typeof observe>["server"]>,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const client = new Client();
  await seen.connected(client, server);
  return played(client.request({ method: "tools/call", params }));
}

describe("a call that comes in", () => {
  it("is a run of the server with the one call in it", async () => {
    const seen = observe({ captureContent: true });
    const server = seen.server(TOOLS);
    await called(seen, server, { name: "find_order", arguments: { id: 17 } });

    expect(seen.lines()).toEqual([
      "invoke_agent shop: complete",
      "  execute_tool find_order: complete",
    ]);
    expect(seen.told.map(({ event }) => event.type)).toEqual([
      "started",
      "tool_start",
      "tool_complete",
      "complete",
    ]);
    const mcp = { method: "tools/call", protocol_version: "2025-11-25", request_id: "1" };
    expect(seen.of("started")[0]?.event).toMatchObject({ agent: "shop", tenant_id: "acme" });
    expect(seen.of("started")[0]?.envelope.details?.mcp).toEqual(mcp);
    expect(seen.of("tool_start")[0]?.event.input).toEqual({ id: 17 });
    expect(seen.attributes("execute_tool find_order")).toMatchObject({
      "mcp.method.name": "tools/call",
      "jsonrpc.request.id": "1",
      "gen_ai.tool.call.result": JSON.stringify(text("order 17 is on its way")),
    });
    expect(mcpCounts(server)).toMatchObject({ reported: 1, faults: 0 });
  });

  it("runs the handler as code of the run, inside the span of the call", async () => {
    const seen = observe();
    const where: unknown[] = [];
    const server = seen.server({
      look: () => {
        where.push(currentRun());
        return text("seen");
      },
    });
    await called(seen, server, { name: "look" });
    const [start] = seen.of("tool_start");
    expect(where).toEqual([
      {
        tenantId: "acme",
        runId: start?.event.run_id,
        rootRunId: start?.event.run_id,
        toolUseId: start?.event.tool_use_id,
      },
    ]);
  });

  it("is named by the option `agent`, and has what `context` says", async () => {
    const seen = observe();
    const server = seen.server(TOOLS, {
      agent: "orders",
      context: ({ authInfo }) => ({ user: String(authInfo) }),
    });
    const client = new Client();
    const [near, far] = Pipe.pair();
    far.extra = { authInfo: "ada" };
    await server.connect(far);
    await client.open(near);
    await played(client.callTool({ name: "find_order" }));
    expect(seen.attributes("invoke_agent orders")["user.id"]).toBe("ada");
  });
});

describe("what a caller says in `_meta`", () => {
  it("is not believed by default", async () => {
    const seen = observe();
    await called(seen, seen.server(TOOLS), { name: "find_order", _meta: META });
    const [started] = seen.of("started");
    expect(started?.event.parent_run_id).toBeNull();
    expect(started?.envelope).not.toHaveProperty("traceparent");
    expect(started?.envelope.root_run_id).toBeUndefined();
    expect(started?.envelope.thread_id).toBeUndefined();
    const ids = new Set(seen.spans().map((span) => span.spanContext().traceId));
    expect([...ids]).toEqual([started?.event.run_id.replaceAll("-", "")]);
  });

  it("places the run of a trusted caller", async () => {
    const seen = observe();
    const server = seen.server(TOOLS, { trust: true });
    await called(seen, server, { name: "find_order", _meta: META });
    const [started] = seen.of("started");
    expect(started?.event.parent_run_id).toBe("run-7");
    expect(started?.envelope).toMatchObject({
      traceparent: TRACEPARENT,
      tracestate: "vendor=1",
      root_run_id: "top",
      parent_tool_use_id: "call-3",
      thread_id: "conversation-1",
    });
    const [root] = seen.trees();
    expect(root?.trace).toBe(TRACE);
    expect(root?.parent).toBe("b".repeat(16));
  });

  it("may be the trace alone, as other instrumentations write it", async () => {
    const seen = observe();
    const server = seen.server(TOOLS, { trust: true });
    await called(seen, server, { name: "find_order", _meta: { traceparent: TRACEPARENT } });
    const [root] = seen.trees();
    expect([root?.trace, root?.parent]).toEqual([TRACE, "b".repeat(16)]);
  });

  it.each([
    [{ traceparent: "00-zz", [RUN_META_KEY]: "run-7" }],
    [{ traceparent: 7, [RUN_META_KEY]: { parent_run_id: "run-7" } }],
    [{ traceparent: TRACEPARENT.slice(3), [RUN_META_KEY]: { root_run_id: ["top"] } }],
    [{ [RUN_META_KEY]: { root_run_id: "x".repeat(600), parent_run_id: "y" } }],
  ])("is ignored of a trusted caller where it is malformed: %j", async (_meta) => {
    const seen = observe();
    const server = seen.server(TOOLS, { trust: true });
    await called(seen, server, { name: "find_order", _meta });
    const [started] = seen.of("started");
    expect(started?.event.parent_run_id).toBeNull();
    expect(started?.envelope.traceparent).toBeUndefined();
    expect(seen.errors).toEqual([]);
  });

  it("is believed of those callers that the function trusts", async () => {
    const seen = observe();
    const callers: McpCaller[] = [];
    const trust = (caller: McpCaller) => {
      callers.push(caller);
      if (caller.tool === "find_order") return true;
      throw new Error("who is that");
    };
    const server = seen.server({ ...TOOLS, other: () => text("done") }, { trust });
    await called(seen, server, { name: "find_order", _meta: META });
    await called(seen, server, { name: "other", _meta: META });
    expect(seen.of("started").map(({ event }) => event.parent_run_id)).toEqual(["run-7", null]);
    expect(callers[0]).toEqual({
      tool: "find_order",
      meta: META,
      sessionId: undefined,
      authInfo: undefined,
      request: undefined,
    });
    expect(seen.errors.map(String)).toEqual(["Error: who is that"]);
  });

  it("never says the tenant", async () => {
    const seen = observe();
    const tenant = ({ sessionId }: McpCaller) => (sessionId === undefined ? "" : "globex");
    const server = seen.server(TOOLS, { trust: true, tenant });
    const _meta = { ...META, [RUN_META_KEY]: { ...META[RUN_META_KEY], tenant_id: "acme" } };
    expect(await called(seen, server, { name: "find_order", _meta })).toEqual(
      text("order undefined is on its way"),
    );
    expect(seen.told).toEqual([]);
    expect(mcpCounts(server)).toMatchObject({ refused: 1, reported: 0, faults: 0 });
  });
});

describe("how a handler ends", () => {
  it("with an error result: the call failed, and the server's run did not", async () => {
    const seen = observe();
    const server = seen.server({ refuse: () => ({ ...text("none"), isError: true }) });
    await called(seen, server, { name: "refuse" });
    expect(seen.lines()).toEqual([
      "invoke_agent shop: complete",
      "  execute_tool refuse: error ERROR",
    ]);
  });

  it("with what it threw: the SDK has made a result of it, but its class counts", async () => {
    const seen = observe();
    const server = seen.server({});
    server.registerTool("fetches", {}, async () => {
      const error = new Error("connect ECONNREFUSED 127.0.0.1:1");
      throw Object.assign(error, { code: "ECONNREFUSED" });
    });
    // A low-level server notes it in its own handler, `McpServer` in that of the tool.
    server.setRequestHandler("tools/call", async () => {
      try {
        return await server.tools.fetches?.({});
      } catch (error) {
        return { ...text(String(error)), isError: true };
      }
    });
    await called(seen, server, { name: "fetches" });
    expect(seen.of("tool_error")[0]?.event).toMatchObject({
      kind: "transient",
      error_for_llm: "Error: connect ECONNREFUSED 127.0.0.1:1",
      envelope: { wire_code: "transport_failure" },
    });
    expect(seen.lines()[0]).toBe("invoke_agent shop: complete");
  });

  it("with an error response: the run failed by its tool", async () => {
    const seen = observe();
    const server = seen.server({
      busy: () => {
        throw new McpError(-32603, "the disk is full");
      },
    });
    await called(seen, server, { name: "busy" }).catch(() => {});
    expect(seen.lines()).toEqual([
      "invoke_agent shop: failed ERROR",
      "  execute_tool busy: error ERROR",
    ]);
    expect(seen.of("failed")[0]?.event.kind).toEqual({
      type: "tool_error_terminal",
      kind: "internal",
      tool_name: "busy",
    });
    expect(seen.attributes("execute_tool busy")["rpc.response.status_code"]).toBe("-32603");
  });

  it("because the request was wrong: no failure of the server", async () => {
    const seen = observe();
    await called(seen, seen.server(TOOLS), { name: "no_such_tool" }).catch(() => {});
    expect(seen.lines()).toEqual([
      "invoke_agent shop: complete",
      "  execute_tool no_such_tool: error ERROR",
    ]);
    expect(seen.of("tool_error")[0]?.event.kind).toBe("validation");
  });

  it("because a person must first open an address: no failure at all", async () => {
    const seen = observe();
    const server = seen.server({
      consent: () => {
        throw new McpError(-32042, "open https://shop.example");
      },
    });
    await called(seen, server, { name: "consent" }).catch(() => {});
    expect(seen.lines()).toEqual([
      "invoke_agent shop: complete",
      "  execute_tool consent: interrupted",
    ]);
  });

  it("called off by the caller, or because the connection closed", async () => {
    const seen = observe();
    const server = seen.server({ never: () => new Promise(() => {}) });
    const client = new Client();
    const [near, far] = Pipe.pair();
    await server.connect(far);
    await client.open(near);
    const caller = new AbortController();
    const first = client.callTool({ name: "never" }, undefined, { signal: caller.signal });
    const second = client.callTool({ name: "never" });
    first.catch(() => {});
    second.catch(() => {});
    await settle();
    caller.abort();
    await settle();
    expect(seen.lines()).toEqual([
      "invoke_agent shop: failed ERROR",
      "  execute_tool never: cancelled",
    ]);
    await far.close();
    expect(seen.of("failed").map(({ event }) => event.kind)).toEqual([
      { type: "cancelled" },
      { type: "cancelled" },
    ]);
  });

  it.each([
    [1, 0, "complete"],
    [1, "", "complete"],
    [1, 1, "failed ERROR"],
    [2, 0, "failed ERROR"],
    [2, "", "failed ERROR"],
  ] as const)("called off, as SDK %i does for request %j: %s", async (version, id, outcome) => {
    const seen = observe();
    const server = seen.server({});
    server.version = version;
    let finish = () => {};
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    server.registerTool("slow", {}, async () => {
      await work;
      return text("slept");
    });
    const near = await seen.connected(new Client(), server);
    const call = { method: "tools/call", params: { name: "slow" } };
    await near.send({ jsonrpc: "2.0", id, ...call });
    await settle();
    const params = { requestId: id };
    await near.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    await played(new Promise((resolve) => setImmediate(resolve)));
    finish();
    await settle();
    const outcomeOfCall = outcome === "complete" ? "complete" : "cancelled";
    expect(seen.lines()).toEqual([
      `invoke_agent shop: ${outcome}`,
      `  execute_tool slow: ${outcomeOfCall}`,
    ]);
  });

  it("never: above the limit the oldest is forgotten", async () => {
    const seen = observe();
    const server = seen.server({ never: () => new Promise(() => {}) }, { maxOpenCalls: 2 });
    const client = new Client();
    const [near, far] = Pipe.pair();
    await server.connect(far);
    await client.open(near);
    for (let n = 0; n < 5; n += 1) void client.callTool({ name: "never" }).catch(() => {});
    await settle();
    expect(mcpCounts(server)).toMatchObject({ reported: 5, forgotten: 3 });
    await far.close();
    expect(seen.of("failed")).toHaveLength(2);
  });
});

describe("trouble of ours", () => {
  it("is an error where an option is wrong", () => {
    const { server } = observe();
    expect(() => server({}, JSON.parse('{"trust":"yes"}'))).toThrow("trust: expected a function");
    expect(() => server({}, { tenant: "" })).toThrow("tenant: expected a text");
    expect(() => server({}, { maxOpenCalls: 0 })).toThrow("maxOpenCalls: expected a whole number");
  });
});
