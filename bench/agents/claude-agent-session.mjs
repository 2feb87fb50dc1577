// What the process of the Claude Agent SDK 0.3.332 sends for a run: messages and calls of hooks, in the fields and the
// order that were recorded from it.
import { randomUUID } from "node:crypto";
import { ANSWER, callOf, MODEL, question, result, USAGE } from "./texts.mjs";

const SERVER = "shop";
const named = (tool) => `mcp__${SERVER}__${tool}`;

/** @returns the prompt, and each step: `{ message }`, or `{ event, input }` of a hook. */
export function sessionOf({ size, turns }) {
  const sessionId = randomUUID();
  const message = (type, more) => ({
    message: { type, session_id: sessionId, uuid: randomUUID(), ...more },
  });
  const hook = (event, more) => ({
    event,
    input: {
      session_id: sessionId,
      transcript_path: `/app/.claude/projects/app/${sessionId}.jsonl`,
      cwd: "/app",
      prompt_id: "b1917860-a54b-4376-ae68-68e29797d573",
      permission_mode: "default",
      hook_event_name: event,
      ...more,
    },
  });
  const turn = (n) => {
    const { args, id, name } = callOf(n);
    const call = {
      tool_name: named(name),
      tool_input: args,
      tool_use_id: id,
      mcp_server: { name: SERVER, source: "sdk" },
    };
    const content = [{ type: "text", text: result(size) }];
    return [
      message("assistant", {
        message: answerOf(n, [{ type: "tool_use", id, name: named(name), input: args }]),
        parent_tool_use_id: null,
        timestamp: "2026-11-26T08:54:35.690Z",
        tool_use_meta: [{ id, display_name: name, server_display_name: SERVER, tool_name: name }],
      }),
      hook("PreToolUse", call),
      hook("PostToolUse", { ...call, tool_response: content, duration_ms: 6 }),
      message("user", {
        message: { role: "user", content: [{ tool_use_id: id, type: "tool_result", content }] },
        parent_tool_use_id: null,
        timestamp: "2026-11-26T08:54:35.888Z",
        tool_use_result: content,
        tool_result_meta: [{ id, permission_decision: { decision: "accept", source: "config" } }],
      }),
    ];
  };
  const prompt = question();
  const steps = [
    hook("UserPromptSubmit", { prompt }),
    message("system", INIT),
    ...Array.from({ length: turns }, (_, n) => turn(n)).flat(),
    message("assistant", {
      message: answerOf(turns, [{ type: "text", text: ANSWER }]),
      parent_tool_use_id: null,
      timestamp: "2026-11-26T08:54:36.032Z",
    }),
    message("result", { ...RESULT, num_turns: turns + 1, result: ANSWER }),
  ];
  // Read from JSON, as the SDK reads them: the engine keeps other objects in a slower form.
  return { prompt, steps: JSON.parse(JSON.stringify(steps)) };
}

/** A message of the model as the SDK sends it: one content block of an answer. */
function answerOf(n, content) {
  return {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: MODEL,
    content,
    usage: { input_tokens: 400, output_tokens: 1, cache_read_input_tokens: USAGE.cached },
    stop_reason: null,
    stop_sequence: null,
    context_management: null,
  };
}

const INIT = {
  subtype: "init",
  cwd: "/app",
  tools: ["Bash", "Edit", "Read", "Write", named("search_docs"), named("sql_query")],
  mcp_servers: [{ name: SERVER, status: "connected", source: "sdk" }],
  model: MODEL,
  permissionMode: "default",
  slash_commands: ["clear", "compact", "context", "init", "usage"],
  apiKeySource: "ANTHROPIC_API_KEY",
  claude_code_version: "2.1.332",
  output_style: "default",
  agents: ["claude", "Explore", "general-purpose", "Plan"],
  skills: [],
  plugins: [],
};

const RESULT = {
  subtype: "success",
  is_error: false,
  stop_reason: "end_turn",
  terminal_reason: "completed",
  duration_ms: 528,
  duration_api_ms: 130,
  ttft_ms: 178,
  total_cost_usd: 0.0114,
  usage: {
    input_tokens: 800,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 2 * USAGE.cached,
    output_tokens: 2 * USAGE.output,
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
  },
  modelUsage: {
    [MODEL]: {
      inputTokens: 800,
      outputTokens: 2 * USAGE.output,
      cacheReadInputTokens: 2 * USAGE.cached,
      cacheCreationInputTokens: 0,
      webSearchRequests: 0,
      costUSD: 0.0114,
      contextWindow: 200000,
      maxOutputTokens: 32000,
    },
  },
  permission_denials: [],
};
