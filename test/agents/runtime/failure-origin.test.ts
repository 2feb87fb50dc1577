import { describe, expect, it } from "vitest";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { AgentError, type FailureKind } from "../../../src/index.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

const refused = () =>
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { code: "ECONNREFUSED" });
const unavailable = () => Object.assign(new Error("unavailable"), { status: 503 });

/** As the client of OpenAI has it: its subclasses have names that others use too. */
class OpenAIError extends Error {}
class RateLimitError extends OpenAIError {}
const limited = () => Object.assign(new RateLimitError("429 slow down"), { status: 429 });

const throwing = (error: unknown) => () => {
  throw error;
};

const terminal = (kind: string, tool_name: string) => ({
  type: "tool_error_terminal",
  kind,
  tool_name,
});

interface Case {
  readonly name: string;
  readonly work: (run: AgentRun<undefined>, sink: Told) => unknown;
  readonly kind: FailureKind | ReturnType<typeof terminal>;
  readonly origin: string;
  readonly code: string;
}

const child = (work: (run: AgentRun<undefined>) => unknown) =>
  runAgent({ agent: "child" }, (run) => work(run));

const CASES: readonly Case[] = [
  {
    name: "a database that is not there, in the run's own code",
    work: throwing(refused()),
    kind: { type: "internal" },
    origin: "run",
    code: "transport_failure",
  },
  {
    name: "a status that the agent's own service answers",
    work: throwing(unavailable()),
    kind: { type: "internal" },
    origin: "run",
    code: "upstream_unavailable",
  },
  {
    name: "a text that a tool throws",
    work: (run) => run.tool("db", throwing("no such row")),
    kind: terminal("internal", "db"),
    origin: "tool",
    code: "unclassified",
  },
  {
    name: "a number that a child's tool throws, through the child and a tool",
    work: (run) => run.tool("ask", () => child((inner) => inner.tool("db", throwing(7)))),
    kind: terminal("internal", "db"),
    origin: "tool",
    code: "unclassified",
  },
  {
    name: "an equal text that the run throws after another call",
    work: async (run) => {
      await rejection(run.tool("db", throwing("no")));
      await run.tool("other", () => 1);
      throwing("no")();
    },
    kind: { type: "unclassified" },
    origin: "run",
    code: "unclassified",
  },
  {
    name: "an error of a model client outside a model call",
    work: throwing(new Error("step 2 failed", { cause: limited() })),
    kind: { type: "model_dispatch" },
    origin: "model",
    code: "rate_limited",
  },
  {
    name: "an error out of a model call",
    work: (run) => run.model("small-1", throwing(unavailable())),
    kind: { type: "model_dispatch" },
    origin: "model",
    code: "upstream_unavailable",
  },
  {
    name: "an error out of a tool",
    work: (run) => run.tool("db", throwing(unavailable())),
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "upstream_unavailable",
  },
  {
    name: "an error out of a tool that nothing classifies",
    work: (run) => run.tool("db", throwing(Object.freeze(new Error("no such table")))),
    kind: terminal("internal", "db"),
    origin: "tool",
    code: "unclassified",
  },
  {
    name: "the cause of another error",
    work: async (run) => {
      const cause = await rejection(run.tool("db", throwing(refused())));
      throw new Error("step 3", { cause: new Error("step 2", { cause }) });
    },
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "one of the errors of an AggregateError",
    work: async (run) => {
      const error = await rejection(run.tool("db", throwing(refused())));
      throw new AggregateError([new Error("a"), error], "all failed");
    },
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "a copy is the run's",
    work: async (run) => {
      const error = await rejection(run.tool("db", throwing(refused())));
      throw new Error(error instanceof Error ? error.message : "");
    },
    kind: { type: "unclassified" },
    origin: "run",
    code: "unclassified",
  },
  {
    name: "a client of a model in a tool is the tool's",
    work: (run) => run.tool("embed", throwing(limited())),
    kind: terminal("quota", "embed"),
    origin: "tool",
    code: "rate_limited",
  },
  {
    name: "a child's model failure that leaves through a tool",
    work: (run) =>
      run.tool("delegate", () => child((inner) => inner.model("small-1", throwing(limited())))),
    kind: { type: "model_dispatch" },
    origin: "model",
    code: "rate_limited",
  },
  {
    name: "a model failure that a tool wraps",
    work: (run) =>
      run.tool("delegate", async () => {
        const cause = await rejection(run.model("small-1", throwing(limited())));
        throw new Error("delegation failed", { cause });
      }),
    kind: { type: "model_dispatch" },
    origin: "model",
    code: "rate_limited",
  },
  {
    name: "a child's tool names the tool at the bottom",
    work: (run) =>
      run.tool("delegate", () => child((inner) => inner.tool("db", throwing(refused())))),
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "a child's own code leaves through the tool that ran it",
    work: (run) => run.tool("delegate", () => child(throwing(refused()))),
    kind: terminal("transient", "delegate"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "a child that no tool ran",
    work: () => child((inner) => inner.tool("db", throwing(refused()))),
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "a tool's own time limit",
    work: (run) => run.tool("db", throwing(new DOMException("late", "TimeoutError"))),
    kind: terminal("transient", "db"),
    origin: "tool",
    code: "transport_failure",
  },
  {
    name: "an abort in a tool",
    work: (run) => run.tool("db", throwing(new DOMException("stop", "AbortError"))),
    kind: { type: "cancelled" },
    origin: "run",
    code: "cancelled",
  },
  {
    name: "a deadline that somebody names in a tool",
    work: (run) => run.tool("db", throwing(AgentError.deadlineExceeded())),
    kind: { type: "deadline_exceeded" },
    origin: "run",
    code: "deadline_exceeded",
  },
];

describe("the kind of a failed run follows from where the error arose", () => {
  it.each(CASES)("$name", async ({ work, kind, origin, code }) => {
    const sink = new Told();
    await rejection(runAgent({ sink, ...base, runId: "root" }, (run) => work(run, sink)));
    const failed = sink.events.filter(({ type, run_id }) => type === "failed" && run_id === "root");
    expect(failed).toMatchObject([{ kind, envelope: { origin, wire_code: code } }]);
  });

  it("by the last throw, where tools of many runs throw one object", async () => {
    const shared = refused();
    const kinds: unknown[] = [];
    for (const tool of ["a", "b"]) {
      const sink = new Told();
      await rejection(runAgent({ sink, ...base }, (run) => run.tool(tool, throwing(shared))));
      kinds.push(sink.only("failed").kind);
    }
    const sink = new Told();
    await rejection(runAgent({ sink, ...base }, throwing(shared)));
    kinds.push(sink.only("failed").kind);
    expect(kinds).toEqual([
      terminal("transient", "a"),
      terminal("transient", "b"),
      { type: "internal" },
    ]);
  });

  it("by the last call of a run that throws one object twice", async () => {
    const sink = new Told();
    const shared = refused();
    await rejection(
      runAgent({ sink, ...base }, async (run) => {
        await rejection(run.tool("a", throwing(shared)));
        await run.tool("b", throwing(shared));
      }),
    );
    expect(sink.only("failed").kind).toEqual(terminal("transient", "b"));
  });

  it("in runs at once that wait for one promise", async () => {
    const shared = Promise.reject(refused());
    const sinks = [new Told(), new Told(), new Told()];
    await Promise.all(
      sinks.map((sink, n) =>
        rejection(runAgent({ sink, ...base }, (run) => run.tool(`tool_${n}`, () => shared))),
      ),
    );
    expect(sinks.map((sink) => sink.only("failed").kind)).toEqual([
      terminal("transient", "tool_0"),
      terminal("transient", "tool_1"),
      terminal("transient", "tool_2"),
    ]);
  });

  it("also where a policy says that a tool's error ends the run", async () => {
    const work = (run: AgentRun<undefined>) =>
      run.tool("delegate", () => child((inner) => inner.model("small-1", throwing(limited()))));
    const sink = new Told();
    const terminalToolErrors = () => true;
    await rejection(runAgent({ sink, ...base, runId: "root", terminalToolErrors }, work));
    const failed = sink.events.filter(({ type, run_id }) => type === "failed" && run_id === "root");
    expect(failed).toMatchObject([
      { kind: { type: "model_dispatch" }, envelope: { origin: "model" } },
    ]);
  });

  it("goes through causes without end", async () => {
    const sink = new Told();
    const loop = new Error("round");
    loop.cause = loop;
    await rejection(runAgent({ sink, ...base }, (run) => run.tool("db", throwing(loop))));
    expect(sink.only("failed").kind).toEqual(terminal("internal", "db"));
  });
});

describe("a tool call that was cancelled", () => {
  const of = (sink: Told) =>
    sink.events.flatMap((event) =>
      event.type === "tool_error"
        ? [[event.tool, event.envelope.wire_code, event.envelope.cancelled ?? false]]
        : [],
    );

  it("by a user is marked", async () => {
    const sink = new Told();
    const user = new AbortController();
    await rejection(
      runAgent({ sink, ...base, signal: user.signal }, (run) =>
        run.tool("slow", () => {
          user.abort();
          return new Promise(() => {});
        }),
      ),
    );
    expect(of(sink)).toEqual([["slow", "cancelled", true]]);
  });

  it("by the run's deadline is marked", async () => {
    const sink = new Told();
    await rejection(
      runAgent({ sink, ...base, deadlineMs: 5 }, (run) =>
        run.tool("slow", () => new Promise(() => {})),
      ),
    );
    expect(of(sink)).toEqual([["slow", "deadline_exceeded", true]]);
    expect(sink.only("failed").envelope.cancelled).toBeUndefined();
  });

  it("because another one ended the run is marked, and the other is not", async () => {
    const sink = new Told();
    await rejection(
      runAgent({ sink, ...base }, (run) =>
        Promise.all([
          run.tool("slow", () => new Promise(() => {})),
          run.tool("db", throwing(refused())),
        ]),
      ),
    );
    expect(of(sink)).toEqual([
      ["db", "transport_failure", false],
      ["slow", "cancelled", true],
    ]);
  });

  it("because its run completed is marked", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, (run) => {
      void run.tool("forgotten", () => new Promise(() => {}));
      return new Promise((resolve) => setImmediate(resolve));
    });
    expect(of(sink)).toEqual([["forgotten", "cancelled", true]]);
  });

  it("is not one that ran out of its own time", async () => {
    const sink = new Told();
    await rejection(
      runAgent({ sink, ...base }, (run) =>
        run.tool("slow", throwing(new DOMException("late", "TimeoutError"))),
      ),
    );
    expect(of(sink)).toEqual([["slow", "transport_failure", false]]);
  });
});
