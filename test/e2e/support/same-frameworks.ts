// What the comparison expects of each framework: the lines of the runtime, but for these differences.
import type { Difference, Differences, Framework } from "./same-framework.ts";

const run = (outcome: string, ...rows: readonly string[]) =>
  `run of acme: ${outcome} [${["entelix.run_started", ...rows, "entelix.run_ended"].join(", ")}]`;
const CALL = ["tool_call", "tool_result"];
const COMPLETE = run("complete");
const ONE_CALL = [run("complete", ...CALL), "  model: complete", "  tool: complete"];
const DECIDED = (outcome: string) => `entelix.tool_call_decided (${outcome}, user)`;
const PAUSED = [run("interrupted", "interrupt"), "  model: complete"];
const DISPATCH = run("failed model_dispatch, origin model", "error");
const ANSWERED = (outcome: string, answers = 1) =>
  `${outcome}, tokens of ${answers} ${answers === 1 ? "answer" : "answers"}`;
const CANCELLED = "failed cancelled, origin run";
const ABSENT = (why: string): Difference => ({ why, lines: undefined });

/** Each request of the model is a call of its own in these. */
const RETRIES = (why: string): Differences => ({
  "model failure after a retry": { why, lines: [DISPATCH, "  model: error", "  model: error"] },
  "answer after a retry": { why, lines: [COMPLETE, "  model: error", "  model: complete"] },
});

const ONE_REPORT: Difference = {
  why: "The framework has one call for both models. It names the one that answered.",
  lines: [COMPLETE, "  model: complete, by small-2"],
};
/** An abort with an error of one's own as its reason. */
const stopped = (
  why: string,
  outcome: string,
  row: string,
  ...lines: readonly string[]
): Differences => ({
  "stop with a reason": {
    why,
    lines: [run(ANSWERED(outcome), ...CALL, row), "  model: complete", ...lines],
  },
});
const UNSEEN =
  "The SDK does not report the signal, so an error of your own as the reason counts as such.";
const TOOL_FAILED = "  tool: error internal";
const TERMINAL = "failed tool_error_terminal, origin tool";
const OWN_CODE = ABSENT(
  "Calls that a tool's code makes are a run, as in the scenario *agent in a tool*.",
);

/** Of versions of the AI SDK that ask the model again after an abort inside a tool. */
const GOES_ON: Differences = {
  ...stopped(UNSEEN, TERMINAL, "tool_error_terminal", TOOL_FAILED, "  model: error"),
  "abort in a tool": {
    why: "This version calls the model once more after an abort.",
    lines: [
      run(ANSWERED(CANCELLED), ...CALL, "cancelled"),
      "  model: complete",
      "  tool: cancelled",
      "  model: error",
    ],
  },
};

const STOPPED = [
  run(ANSWERED(CANCELLED, 2), ...CALL, "cancelled"),
  "  model: complete",
  "  tool: cancelled",
  "  model: complete",
];
const NO_LINK = "The other process does not know the paused run, so the runs have no link.";
const TOLD = "The SDK always passes a tool's failure to the model.";
const AI_SDK: Differences = {
  "tool failure that ends the run": ABSENT(TOLD),
  fallback: ONE_REPORT,
  "calls inside a call": OWN_CODE,
};
const NO_RETRY = "This version has no retries.";

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: "LangChain, LangGraph",
    page: "langchain.md",
    program: "same-langchain.mjs",
    needs: ["langchain-model.mjs"],
    differences: {
      ...RETRIES("`withRetry` calls the model again, so each attempt is a model call."),
      "pause, approved in another process": {
        why: `${NO_LINK} The wait is not known either.`,
        lines: [
          ...PAUSED,
          run("complete", DECIDED("approved"), ...CALL),
          "  tool: complete",
          "  model: complete",
        ],
      },
    },
    ends: [
      {
        server: "langchain-oldest",
        differences: {
          "timeout in the model": {
            why: "LangGraph 0.2 throws the same error for a timeout and for an abort.",
            lines: [run("failed cancelled, origin run", "cancelled"), "  model: error"],
          },
          "stream whose reader leaves": {
            why: "LangGraph 0.2 does not report the end of the run.",
            lines: ["run of acme: abandoned [entelix.run_started]", "  model: complete"],
          },
        },
      },
      { server: "langchain-newest" },
    ],
  },
  {
    name: "OpenAI Agents",
    page: "openai-agents.md",
    program: "same-openai-agents.mjs",
    needs: ["openai-agents-model.mjs"],
    differences: {
      ...RETRIES("Each attempt has its own span in the SDK, so it is a model call."),
      refusal: {
        why: "The SDK fails a run whose model refuses to answer.",
        lines: [
          run(ANSWERED("failed model_dispatch, origin model"), "error"),
          "  model: complete, content_filter",
        ],
      },
      fallback: ONE_REPORT,
      "pause, approved in another process": {
        why: "The SDK continues the trace, so the run stands below the paused one.",
        lines: [
          ...PAUSED,
          `  ${run("complete, linked to the paused run", "resumed", DECIDED("approved"), ...CALL)}`,
          "    tool: complete",
          "    model: complete",
        ],
      },
    },
    ends: [
      {
        server: "openai-agents-oldest",
        differences: {
          ...stopped(
            UNSEEN,
            "failed model_dispatch, origin model",
            "error",
            "  tool: complete",
            "  model: error",
          ),
          "model failure after a retry": { why: NO_RETRY, lines: [DISPATCH, "  model: error"] },
          "answer after a retry": { why: NO_RETRY, lines: [DISPATCH, "  model: error"] },
          "abort in a tool": {
            why: "SDK 0.4 does not pass a signal to tools, so the next model call ends the run.",
            lines: [
              run(ANSWERED(CANCELLED), ...CALL, "cancelled"),
              "  model: complete",
              "  tool: complete",
              "  model: error",
            ],
          },
          refusal: {
            why: "SDK 0.4 asks the model again after a refusal.",
            lines: [
              run(ANSWERED("failed model_dispatch, origin model"), "error"),
              "  model: complete, content_filter",
              "  model: error",
            ],
          },
          "call that never ran": {
            why: "SDK 0.4 fails a run whose model calls a tool that does not exist.",
            lines: [
              run(ANSWERED("failed model_dispatch, origin model"), ...CALL, "error"),
              "  model: complete",
              "  tool: error validation",
            ],
          },
        },
      },
      {
        server: "openai-agents-newest",
        newerNode: true,
        differences: {
          ...stopped(UNSEEN, "failed unclassified, origin run", "error", TOOL_FAILED),
          "one ID twice": {
            why: "The SDK skips the second call.",
            lines: [
              run("complete", ...CALL),
              "  model: complete",
              "  tool: complete",
              "  model: complete",
            ],
          },
        },
      },
    ],
  },
  {
    name: "AI SDK 7",
    page: "ai-sdk.md",
    program: "same-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    differences: AI_SDK,
    ends: [
      { server: "ai-sdk-oldest", newerNode: true, differences: GOES_ON },
      {
        server: "ai-sdk-newest",
        newerNode: true,
      },
    ],
  },
  {
    name: "AI SDK 6",
    page: "ai-sdk.md#ai-sdk-6",
    program: "same-ai-sdk.mjs",
    needs: ["ai-sdk-model.mjs", "ai-sdk-version.mjs", "language-model.mjs"],
    differences: AI_SDK,
    ends: [{ server: "ai-sdk-6-oldest", differences: GOES_ON }, { server: "ai-sdk-6-newest" }],
  },
  {
    name: "Claude Agent",
    page: "claude-agent.md",
    program: "same-claude-agent.mjs",
    needs: ["claude-agent-ask.mjs", "claude-agent-messages-api.mjs"],
    differences: {
      "tool failure that ends the run": ABSENT(TOLD),
      "abort in a tool": {
        why: "The SDK's process continues for a moment, and may call the model once more.",
        lines: STOPPED,
      },
      "stop with a reason": {
        why: "The SDK's process continues for a moment, and may call the model once more.",
        lines: STOPPED,
      },
      "answer cut by length": {
        why: "The SDK's process asks the model to continue, and does not report why an answer ended.",
        lines: [COMPLETE, "  model: complete", "  model: complete"],
      },
      refusal: {
        why: "The SDK's process asks the model again, then fails the run.",
        lines: [
          run(ANSWERED("failed model_dispatch, origin model", 2), "error"),
          "  model: complete, content_filter",
          "  model: complete, content_filter",
        ],
      },
      fallback: {
        ...ONE_REPORT,
        lines: [COMPLETE, "  model: complete, by claude-haiku-4-5"],
      },
      "calls inside a call": OWN_CODE,
      "timeout in the model": {
        why: "The SDK reports a model call only when the model answers.",
        lines: [run("failed deadline_exceeded, origin run", "error")],
      },
      "agent in a tool": {
        why: "The SDK does not report the last answer of a sub-agent.",
        lines: [
          run("complete", ...CALL),
          "  model: complete",
          "  tool: complete",
          `    ${run("complete", ...CALL)}`,
          "      model: complete",
          "      tool: complete",
          "  model: complete",
        ],
      },
      "pause, approved": {
        why: "`canUseTool` waits in the open run, so the run does not pause.",
        lines: [
          run("complete", DECIDED("approved"), ...CALL),
          ...ONE_CALL.slice(1),
          "  model: complete",
        ],
      },
      "pause, denied": {
        why: "`canUseTool` waits in the open run, so the run does not pause.",
        lines: [
          run("complete", DECIDED("denied")),
          "  model: complete",
          "  tool: denied",
          "  model: complete",
        ],
      },
      "pause, approved in another process": ABSENT("A run does not pause for `canUseTool`."),
      "resumption of a user's run": {
        why: "A session is resumed, not a paused run.",
        lines: [
          run("complete, user u1"),
          "  model: complete",
          run("complete, user u1"),
          "  model: complete",
        ],
      },
    },
    ends: [{ server: "claude-agent" }],
  },
  {
    name: "Mastra",
    page: "mastra.md",
    program: "same-mastra.mjs",
    needs: ["language-model.mjs", "mastra-model.mjs"],
    differences: {
      "tool failure that ends the run": ABSENT(
        "Mastra always passes a tool's failure to the model.",
      ),
      fallback: ONE_REPORT,
      "calls inside a call": OWN_CODE,
    },
    ends: [
      {
        server: "mastra-oldest",
        newerNode: true,
        differences: {
          ...stopped(
            "Mastra 1.57 calls the model once more after an abort.",
            CANCELLED,
            "cancelled",
            TOOL_FAILED,
            "  model: error",
          ),
          "answer after a retry": {
            why: "Mastra 1.57 does not retry.",
            lines: [DISPATCH, "  model: error"],
          },
          "abort in a tool": {
            why: "Mastra 1.57 calls the model once more after an abort.",
            lines: [
              run(ANSWERED(CANCELLED), ...CALL, "cancelled"),
              "  model: complete",
              "  tool: cancelled",
              "  model: error",
            ],
          },
        },
      },
      {
        server: "mastra-newest",
        newerNode: true,
      },
    ],
  },
  {
    name: "MCP",
    page: "mcp.md",
    program: "same-mcp.mjs",
    needs: ["mcp-sdk.mjs", "mcp-tools.mjs"],
    differences: Object.fromEntries(
      [
        "tool failure that ends the run",
        "model failure after a retry",
        "answer after a retry",
        "timeout in the model",
        "stream whose reader leaves",
        "answer cut by length",
        "refusal",
        "fallback",
        "failure after an answer",
        "one ID twice",
        "agent in a tool",
        "pause, approved",
        "pause, denied",
        "pause, approved in another process",
        "resumption of a user's run",
      ].map((scenario) => [scenario, ABSENT("The protocol has tool calls only.")]),
    ),
    ends: [
      { server: "mcp-oldest", args: ["1"] },
      { server: "mcp-newest", args: ["2"] },
    ],
  },
];
