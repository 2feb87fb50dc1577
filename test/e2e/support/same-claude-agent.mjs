// Plays the scenarios of the comparison with the process of the Claude Agent SDK that is installed beside it.
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { claudeAgent } from "entelix-otel/claude-agent";
import { raceFree } from "./adapters-scenes.mjs";
import { ask } from "./claude-agent-ask.mjs";
import { ends, refuses, text, uses } from "./claude-agent-messages-api.mjs";
import { failsTheSecondTime, playSame, pressedStop } from "./same-scenarios.mjs";

const FALLBACK = "claude-haiku-4-5";
const LOOK = "mcp__shop__look";
const seen = async () => ({ content: [{ type: "text", text: "seen" }] });
const boom = async () => {
  throw new RangeError("out of order");
};

/** Asks for the calls, then says that it is done. */
const callsThenSays =
  (...calls) =>
  (_, n) =>
    n === 0 ? calls : [text("done")];
const oneCall = callsThenSays(uses("t1", LOOK));

/** The options of a query with the one tool `look`. */
const withLook = (work = seen, more = {}) => ({
  mcpServers: { shop: createSdkMcpServer({ name: "shop", tools: [tool("look", "", {}, work)] }) },
  allowedTools: [LOOK],
  ...more,
});

const canUseTool = (decision) => ({ allowedTools: [], canUseTool: async () => decision });

/** The agent asks its sub-agent, which looks. */
function subAgent(last) {
  const input = { description: "w", prompt: "LOOK", subagent_type: "general-purpose" };
  if (last.includes("LOOK")) return [uses("t2", LOOK)];
  if (last.includes('"t2"')) return [text("seen")];
  if (last.includes('"t1"')) return [text("done")];
  return [uses("t1", "Agent", { ...input, run_in_background: false })];
}

/** The signal fires once the request is at the model, and the call at the tool. */
const aborts = (reason) => {
  const abortController = new AbortController();
  return { abortController, abort: () => setTimeout(() => abortController.abort(reason), 300) };
};

/** The tool stops its run. */
const stopsIn = (reason) => (config) => {
  const { abort, abortController } = aborts(reason);
  const wait = () => {
    abort();
    return new Promise(() => {});
  };
  return ask(config, oneCall, withLook(wait, { abortController }));
};

const scenarios = {
  success: (config) => ask(config, oneCall, withLook()),
  "parallel tools": (config) =>
    ask(config, callsThenSays(uses("t1", LOOK), uses("t2", LOOK)), withLook()),
  "tool failure that the model reads": (config) => ask(config, oneCall, withLook(boom)),
  "model failure after a retry": (config) =>
    ask(config, () => refuses(500, "api_error"), { env: { CLAUDE_CODE_MAX_RETRIES: "1" } }),
  "answer after a retry": (config) =>
    ask(config, (_, n) => (n === 0 ? refuses(529, "overloaded_error") : [text("done")])),
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
  "timeout in the model": (config) => {
    const { abort, abortController } = aborts(new DOMException("late", "TimeoutError"));
    const never = () => {
      abort();
    };
    return ask(config, never, { abortController });
  },
  "stream whose reader leaves": (config) =>
    ask(config, () => [text("one two three")], {
      includePartialMessages: true,
      follow: ({ type }) => (type === "stream_event" ? "leave" : undefined),
    }),
  "answer cut by length": (config) =>
    ask(config, (_, n) => (n === 0 ? ends("max_tokens", text("do")) : [text("ne")])),
  refusal: (config) => ask(config, () => ends("refusal", text("no"))),
  fallback: (config) => {
    const usual = (_, __, model) =>
      model === FALLBACK ? [text("done")] : refuses(529, "overloaded_error");
    return ask(config, usual, { fallbackModel: FALLBACK });
  },
  "failure after an answer": (config) => {
    const script = (_, n) => (n === 0 ? [uses("t1", LOOK)] : refuses(500, "api_error"));
    return ask(config, script, withLook(seen, { env: { CLAUDE_CODE_MAX_RETRIES: "1" } }));
  },
  "call that never ran": (config) => ask(config, callsThenSays(uses("t1", "None")), withLook()),
  "one ID twice": (config) => {
    const fails = failsTheSecondTime(seen);
    return ask(config, callsThenSays(uses("t1", LOOK), uses("t1", LOOK)), withLook(fails));
  },
  "agent in a tool": (config) =>
    ask(config, subAgent, withLook(seen, { allowedTools: ["Agent", LOOK] })),
  "pause, approved": (config) =>
    ask(config, oneCall, withLook(seen, canUseTool({ behavior: "allow", updatedInput: {} }))),
  "pause, denied": (config) =>
    ask(config, oneCall, withLook(seen, canUseTool({ behavior: "deny", message: "not today" }))),
  "resumption of a user's run": async (config) => {
    const details = { metadata: { user: "u1" } };
    const [{ session_id: resume }] = await ask(config, () => [text("one")], { details });
    await ask(config, () => [text("two")], { resume });
  },
  "two tenants at once": (config) => {
    const both = raceFree(2);
    const work = async () => {
      await both();
      return seen();
    };
    return Promise.all(
      ["acme", "globex"].map((tenant_id) =>
        ask(config, oneCall, withLook(work, { details: { metadata: { tenant_id } } })),
      ),
    );
  },
};

await playSame({
  scenarios,
  answer: { tokens: 16, model: "claude-sonnet-4-5" },
  begin(sink, onError) {
    const context = ({ user }) => (user === undefined ? undefined : { user });
    const agent = claudeAgent({ sink, tenant: "acme", context, onError });
    return { agent, flush: () => agent.flush() };
  },
});
