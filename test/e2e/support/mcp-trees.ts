/** What the scenes of `mcp-scenes.mjs` make: a line a span, with how it ended, and the action of an elicitation. */
export type McpTrees = Readonly<Record<string, readonly string[]>>;

/** A call of a client, and what its server makes of it. */
const both = (tool: string, call: string, run: string, handled: string) => [
  `  execute_tool ${tool}: ${call}`,
  `    invoke_agent shop: ${run}`,
  `      execute_tool ${tool}: ${handled}`,
];
const inRun = (run: string, ...below: readonly (readonly string[])[]) => [
  `invoke_agent support: ${run}`,
  ...below.flat(),
];
const found = both("find_order", "complete", "complete", "complete");
const deeper = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
const TRANSIENT = "failed tool_error_terminal transient ERROR";

/** Handlers of SDK 1.x answer for an unknown tool from some version on: until then the request fails. */
const unknownTool = (isAnswered: boolean) =>
  isAnswered
    ? inRun(
        "complete",
        both("no_such_tool", "error validation ERROR", "complete", "error validation ERROR"),
      )
    : inRun(
        "failed tool_error_terminal validation ERROR",
        both("no_such_tool", "error validation ERROR", "complete", "error validation ERROR"),
      );

/** @param major of the SDK. @param isNewest whether it is the newest that is tested. */
export function mcpTrees(major: "1" | "2", isNewest: boolean): McpTrees {
  const handled = "failed cancelled ERROR";
  const trees = {
    success: inRun("complete", found),
    "success, with content": inRun("complete", found),
    parallel: inRun("complete", found, found, found),
    "is error": inRun(
      "complete",
      both("refuse", "error internal ERROR", "complete", "error internal ERROR"),
    ),
    "handler throws": inRun(
      "complete",
      both("throws", "error internal ERROR", "complete", "error internal ERROR"),
    ),
    "unknown tool": unknownTool(major === "1" && isNewest),
    timeout: inRun(TRANSIENT, both("slow", "error transient ERROR", handled, "cancelled")),
    abort: inRun("failed cancelled ERROR", both("slow", "cancelled", handled, "cancelled")),
    "server dies": inRun(TRANSIENT, ["  execute_tool dies: error transient ERROR"]),
    stdio: inRun("complete", found),
    http: inRun("complete", found),
    "elicitation accepted": inRun("complete", [
      "  execute_tool refund: complete",
      "    step elicitation: complete accept",
      "    invoke_agent shop: complete",
      "      execute_tool refund: complete",
      "        step elicitation: complete accept",
    ]),
    "elicitation declined by stdio": inRun("complete", [
      "  execute_tool refund: complete",
      "    step elicitation: complete decline",
    ]),
    "two tenants": [
      ...Array(2)
        .fill(["invoke_agent shop: complete", "  execute_tool find_order: complete"])
        .flat(),
      ...Array(2)
        .fill(["invoke_agent support: complete", "  execute_tool find_order: complete"])
        .flat(),
    ],
    nested: inRun("complete", found, deeper(deeper(deeper(found)))),
    untrusted: [
      "invoke_agent shop: complete",
      "  execute_tool find_order: complete",
      "invoke_agent support: complete",
      "  execute_tool find_order: complete",
    ],
    "outside a run": ["invoke_agent find_order: complete", ...found],
    "inside the framework's tool": inRun("complete", [
      "  execute_tool shop__find_order: complete",
      "    invoke_agent shop: complete",
      "      execute_tool find_order: complete",
    ]),
    "inside another tool": inRun("complete", ["  execute_tool research: complete"], deeper(found)),
  };
  if (major === "1") return trees;
  return {
    ...trees,
    "input required": inRun("complete", [
      "  execute_tool refund: complete",
      "    invoke_agent shop: complete",
      "      execute_tool refund: complete",
      "    step elicitation: complete accept",
      "    invoke_agent shop: complete",
      "      execute_tool refund: complete",
    ]),
  };
}
