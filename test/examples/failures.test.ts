import { describe, expect, it } from "vitest";
import { linesOf } from "./run-example.ts";

/** What a program of `examples/failures` prints for a case. */
interface Line {
  readonly case: string;
  readonly [field: string]: unknown;
}

const own = linesOf<Line>("failures/own-loop.mjs");
own.catch(() => {});

const failed = (kind: string, origin: string, code: string, tool: string | null = null) => ({
  outcome: "failed",
  kind,
  origin,
  code,
  tool,
});
const call = (tool: string, kind: string, code: string, toModel: string) => ({
  tool,
  outcome: "error",
  kind,
  code,
  toModel,
});
const cancelledCall = (tool: string, code: string, toModel: string) => ({
  tool,
  outcome: "cancelled",
  kind: null,
  code,
  toModel,
});
const completed = { outcome: "complete", kind: null, origin: null, code: null, tool: null };

const DOWN = "tool call failed (HTTP 503)";
const UNREACHABLE = "tool call failed (no connection)";
const queryFailed = (code: string) => failed("tool_error_terminal", "tool", code, "query");
const query = call("query", "transient", "upstream_unavailable", DOWN);

const EXPECTED = [
  {
    case: "the model's provider answers 429",
    ...failed("model_dispatch", "model", "rate_limited"),
    calls: [],
  },
  {
    case: "the agent's own database is not there",
    ...failed("internal", "run", "transport_failure"),
    calls: [],
  },
  {
    case: "the agent's own service answers 401",
    ...failed("internal", "run", "upstream_unauthorized"),
    calls: [],
  },
  {
    case: "a tool's 503 ends the run",
    ...queryFailed("upstream_unavailable"),
    calls: [query],
  },
  {
    case: "a tool's error has the reason as its cause",
    ...queryFailed("transport_failure"),
    calls: [call("query", "transient", "transport_failure", UNREACHABLE)],
  },
  {
    case: "a tool's error is one of several",
    ...queryFailed("transport_failure"),
    calls: [call("query", "transient", "transport_failure", UNREACHABLE)],
  },
  {
    case: "a tool's 429 is told to the model",
    ...completed,
    calls: [call("search", "rate_limit", "rate_limited", "tool call failed (HTTP 429)")],
  },
  {
    case: "a tool's own time limit is told to the model",
    ...completed,
    calls: [call("search", "transient", "transport_failure", "timed out")],
  },
  {
    case: "a result says that the call failed",
    ...completed,
    calls: [call("search", "internal", "tool_result_error", "no such index")],
  },
  {
    case: "a sub-agent's model fails, and that leaves through the tool",
    ...failed("model_dispatch", "model", "rate_limited"),
    calls: [call("ask_expert", "rate_limit", "rate_limited", "upstream model error")],
  },
  {
    case: "a sub-agent's tool fails, and that leaves through the tool above",
    ...queryFailed("upstream_unavailable"),
    calls: [call("ask_expert", "transient", "upstream_unavailable", DOWN), query],
  },
  {
    case: "the user leaves while a tool runs",
    ...failed("cancelled", "run", "cancelled"),
    calls: [cancelledCall("query", "cancelled", "cancelled")],
  },
  {
    case: "the deadline is over while a tool runs",
    ...failed("deadline_exceeded", "run", "deadline_exceeded"),
    calls: [cancelledCall("query", "deadline_exceeded", "timed out")],
  },
  {
    case: "a tool fails, and cuts its sibling off",
    ...queryFailed("upstream_unavailable"),
    calls: [query, cancelledCall("search", "cancelled", "cancelled")],
  },
].map((line) => ({ ...line, isVerified: true, isIdentical: true }));

describe("examples/failures", () => {
  it("says in a loop of one's own what failed, and where", async () => {
    expect(await own).toMatchObject(EXPECTED);
  });

  it("says the same in the OpenAI Agents SDK", async () => {
    expect(await linesOf<Line>("failures/openai-agents.mjs")).toEqual(await own);
  });

  it("says the same in LangGraph", async () => {
    expect(await linesOf<Line>("failures/langgraph.mjs")).toEqual(await own);
  });
});
