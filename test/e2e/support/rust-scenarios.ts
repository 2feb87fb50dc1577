import type { ExpectedNode } from "../../bridge/spans/expected-tree.ts";
import { traceId } from "./fresh-ids.ts";
import type { RustRun } from "./rust-agent.ts";

/** What `examples/agent.rs` plays, in its order. */
export const SCENARIOS = ["completes", "recovers", "fails", "delegates"] as const;

/**
 * Rows of the audit log that each of them makes: a call and its result for each of two tool calls, a start and
 * an end for each run, and one of the tool that ends a run.
 */
export const ROWS: Readonly<Record<string, number>> = {
  completes: 6,
  recovers: 6,
  fails: 7,
  delegates: 8,
};

const LOOKUP = {
  span: "execute_tool lookup_order",
  status: "unset",
  attributes: {
    "gen_ai.tool.call.id": "call_1",
    "entelix.tool.version": "1.2.0",
    "entelix.tool.outcome": "complete",
  },
};

/** What a run of it should be in Jaeger, drawn from what the program does. */
export function drawnRun({ scenario, runIds }: RustRun, tenant: string): ExpectedNode {
  const [run = "", child = ""] = runIds;
  const common = { "entelix.run_id": run, "entelix.tenant_id": tenant };
  const root = {
    span: "invoke_agent support",
    run,
    trace: "run",
    span_id: traceId(run).slice(16),
    status: "unset",
    attributes: {
      ...common,
      "gen_ai.agent.name": "support",
      "gen_ai.conversation.id": `ticket-${scenario}`,
      "entelix.run.outcome": "complete",
      "entelix.usage.tool_calls": 2,
    },
  };
  const lookup = { ...LOOKUP, run, children: [] };
  const refund = { span: "execute_tool refund", run, children: [] };
  const call = { "gen_ai.tool.call.id": "call_2", ...common };
  switch (scenario) {
    case "completes": {
      const attributes = { ...call, "entelix.tool.outcome": "complete" };
      return { ...root, children: [lookup, { ...refund, status: "unset", attributes }] };
    }
    case "recovers": {
      const busy = {
        ...refund,
        status: "error",
        description: "provider returned 503: payment gateway: busy",
        attributes: {
          ...call,
          "entelix.tool.outcome": "error",
          "error.type": "transient",
          "entelix.tool.error_kind": "transient",
          "entelix.error.provider_status": 503,
        },
      };
      return { ...root, children: [lookup, busy] };
    }
    case "fails": {
      const description =
        "tool refund terminal (auth): provider returned 401: payment gateway: key expired";
      const locked = {
        ...refund,
        status: "error",
        description,
        attributes: { ...call, "error.type": "auth", "entelix.tool.error_kind": "auth" },
      };
      return {
        ...root,
        status: "error",
        description,
        attributes: {
          ...common,
          "entelix.run.outcome": "failed",
          "error.type": "tool_error_terminal",
          "entelix.failure.kind": "tool_error_terminal",
          "entelix.failure.tool_name": "refund",
          "entelix.failure.tool_error_kind": "auth",
        },
        children: [lookup, locked],
      };
    }
    case "delegates": {
      const researcher = {
        span: "invoke_agent react",
        run: child,
        status: "unset",
        attributes: { "entelix.parent_run_id": run, "entelix.run.outcome": "complete" },
        children: [{ ...lookup, run: child }],
      };
      const call = {
        span: "execute_tool researcher",
        run,
        status: "unset",
        attributes: { ...common, "entelix.tool.outcome": "complete" },
        children: [researcher],
      };
      return { ...root, children: [call] };
    }
    default:
      throw new Error(`${scenario}: nothing is drawn for it`);
  }
}
