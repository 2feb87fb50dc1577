/** Where a name of OpenTelemetry's conventions stands. */
export interface Standing {
  /** The conventions that define the name, with the date of their reading. */
  readonly source: string;
  /** `merged`: on the main branch. `proposed`: in an open change, so nothing is emitted because of it. */
  readonly state: "merged" | "proposed";
  /** The change that brought the name, as a number of a pull request there. */
  readonly change?: string;
  /** The names of the same thing before. `gen_ai/dup` adds them. */
  readonly before?: readonly string[];
  /**
   * The name that an open change proposes, or that a version has to which the GenAI conventions do not refer yet.
   * Nothing emits it.
   */
  readonly proposed?: string;
}

/**
 * The GenAI conventions have no release. Their main branch was read on 9 October 2026, at commit 6fd0d76, and the open
 * changes on 28 November 2026.
 */
const GEN_AI = "semantic-conventions-genai, main of 9 October 2026";

/** The names that the GenAI conventions refer to, in the version that they refer to. 1.45.0 was compared. */
const GENERAL = "semantic-conventions 1.44.0";

/** Names with a change that readers of telemetry notice. */
const CHANGES: Readonly<Record<string, Omit<Standing, "source">>> = {
  "gen_ai.client.inference.duration": {
    state: "merged",
    change: "#521",
    before: ["gen_ai.client.operation.duration"],
  },
  "gen_ai.client.inference.time_to_first_chunk": {
    state: "merged",
    change: "#521",
    before: ["gen_ai.client.operation.time_to_first_chunk"],
  },
  "gen_ai.client.inference.operation.input_tokens": {
    state: "merged",
    change: "#374",
    before: ["gen_ai.client.token.usage"],
  },
  "gen_ai.client.inference.operation.output_tokens": {
    state: "merged",
    change: "#374",
    before: ["gen_ai.client.token.usage"],
  },
  "gen_ai.client.inference.usage.input_tokens": {
    state: "merged",
    change: "#374",
    before: ["gen_ai.client.token.usage"],
  },
  "gen_ai.client.inference.usage.output_tokens": {
    state: "merged",
    change: "#374",
    before: ["gen_ai.client.token.usage"],
  },
  "gen_ai.client.inference.usage.cache_read.input_tokens": { state: "merged", change: "#374" },
  "gen_ai.client.inference.usage.cache_write.input_tokens": { state: "merged", change: "#374" },
  "gen_ai.client.inference.usage.reasoning.output_tokens": { state: "merged", change: "#374" },
  "gen_ai.invoke_agent.duration": {
    state: "merged",
    change: "#201",
    proposed: "gen_ai.invocation.duration (#571)",
  },
  "gen_ai.invoke_agent.inference_calls": { state: "merged", change: "#336" },
  "gen_ai.invoke_agent.tool_calls": { state: "merged", change: "#336" },
  "gen_ai.invoke_workflow.duration": { state: "merged", change: "#341" },
  "gen_ai.execute_tool.duration": { state: "merged", change: "#201" },
  "gen_ai.provider.name": { state: "merged", change: "1.37", before: ["gen_ai.system"] },
  "gen_ai.usage.cache_write.input_tokens": {
    state: "merged",
    change: "#440",
    before: ["gen_ai.usage.cache_creation.input_tokens"],
  },
  "gen_ai.client.inference.operation.details": { state: "merged", change: "#579" },
  "rpc.response.status_code": {
    state: "merged",
    change: "1.39",
    proposed: "rpc.status_code (semantic-conventions 1.45.0)",
  },
};

/** Names that only `gen_ai/dup` emits, and one that two backends still read, so that it is always there. */
export const EARLIER_NAMES: ReadonlySet<string> = new Set(
  Object.values(CHANGES).flatMap(({ before = [] }) => before),
);

/** @returns `undefined` for a name of this package. */
export function standingOf(name: string): Standing | undefined {
  if (name.startsWith("entelix.")) return undefined;
  const isGenAi = /^(gen_ai|mcp|jsonrpc)\./.test(name);
  return { source: isGenAi ? GEN_AI : GENERAL, state: "merged", ...CHANGES[name] };
}
