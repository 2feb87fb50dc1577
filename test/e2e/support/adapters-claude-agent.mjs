// Runs the process of the Claude Agent SDK that is installed beside it against a scripted Messages API, under the
// adapter, and prints the spans of each scene as JSON.
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { claudeAgent } from "entelix-otel/claude-agent";
import { runAgent } from "entelix-otel/runtime";
import { z } from "zod";
import { play } from "./adapters-scenes.mjs";
import { ask, home } from "./claude-agent-ask.mjs";
import { refuses, text, uses } from "./claude-agent-messages-api.mjs";

/** Asks for one call of Bash, then says that it is done. */
const oneCall = (command) => (_, n) =>
  n === 0 ? [uses("t1", "Bash", { command })] : [text("done")];

/** Prompts, each once the one before has its result. */
function turns(...prompts) {
  let answered = () => {};
  const prompt = (async function* () {
    for (const content of prompts) {
      const done = new Promise((resolve) => {
        answered = resolve;
      });
      yield { type: "user", parent_tool_use_id: null, message: { role: "user", content } };
      await done;
    }
  })();
  const follow = ({ type }) => {
    if (type === "result") answered();
  };
  return { prompt, follow };
}

const bash = { allowedTools: ["Bash"] };
const allows = async (_, input) => ({ behavior: "allow", updatedInput: input });

const scenes = {
  success: (config) => ask(config, () => [text("done")]),
  "parallel tools, one fails": (config) => {
    const calls = [
      uses("t1", "Bash", { command: "echo a" }),
      uses("t2", "Bash", { command: "exit 3" }),
    ];
    return ask(config, (_, n) => (n === 0 ? [text("I look."), ...calls] : [text("done")]), bash);
  },
  "an answer after a retry": (config) =>
    ask(config, (_, n) => (n === 0 ? refuses(529, "overloaded_error") : [text("done")])),
  "a model that fails": (config) =>
    ask(config, () => refuses(500, "api_error"), { env: { CLAUDE_CODE_MAX_RETRIES: "1" } }),
  abort: (config) => ends(config, undefined),
  timeout: (config) => ends(config, new DOMException("late", "TimeoutError")),
  "a reader that leaves": (config) =>
    ask(config, oneCall("sleep 20"), {
      ...bash,
      follow: ({ type }) => (type === "assistant" ? "leave" : undefined),
    }),
  "a process that dies": (config) => ask(config, oneCall("kill -9 $PPID"), bash),
  "sub-agents, two deep": (config) => ask(config, subAgents, { allowedTools: ["Agent", "Bash"] }),
  "a sub-agent in the background": (config) => {
    const input = { description: "w", prompt: "WATCH", subagent_type: "general-purpose" };
    const script = (last) => {
      if (last.includes("task-notification")) return [text("reported")];
      if (last.includes("WATCH")) return [text("seen")];
      return last.includes("tool_result") ? [text("started")] : [uses("t1", "Agent", input)];
    };
    return ask(config, script, { allowedTools: ["Agent"] });
  },
  approve: (config) => ask(config, oneCall(`touch ${home}/../a.txt`), { canUseTool: allows }),
  edit: (config) =>
    ask(config, oneCall(`touch ${home}/../a.txt`), {
      canUseTool: async () => ({ behavior: "allow", updatedInput: { command: "echo safe" } }),
    }),
  deny: (config) =>
    ask(config, oneCall(`touch ${home}/../a.txt`), {
      canUseTool: async () => ({ behavior: "deny", message: "not today" }),
    }),
  "a rule denies": (config) => ask(config, oneCall(`touch ${home}/../a.txt`)),
  "a hook denies": (config) => {
    const output = { hookEventName: "PreToolUse", permissionDecision: "deny" };
    const hook = async () => ({ hookSpecificOutput: output });
    return ask(config, oneCall("echo a"), { ...bash, hooks: { PreToolUse: [{ hooks: [hook] }] } });
  },
  interrupt: (config) => {
    const { follow, prompt } = turns("one", "two");
    let stream;
    const hook = async () => {
      setTimeout(() => stream.interrupt(), 700);
      return {};
    };
    return ask(config, oneCall("sleep 20"), {
      ...bash,
      prompt,
      hooks: { PreToolUse: [{ hooks: [hook] }] },
      follow: (message, query) => {
        stream = query;
        return follow(message);
      },
    });
  },
  "resume in another process": async (config) => {
    const messages = await ask(config, () => [text("one")]);
    const sessionId = messages[0].session_id;
    const resumedFromRunId = config.agent.lastRunOf("acme", sessionId);
    const other = { agent: claudeAgent(config.options) };
    await ask(other, () => [text("two")], { resume: sessionId, details: { resumedFromRunId } });
  },
  fork: async (config) => {
    const messages = await ask(config, () => [text("one")]);
    await ask(config, () => [text("two")], { resume: messages[0].session_id, forkSession: true });
  },
  "two tenants at once": (config) =>
    Promise.all(
      ["acme", "globex"].map((tenant_id) =>
        ask(config, oneCall("echo a"), { ...bash, details: { metadata: { tenant_id } } }),
      ),
    ),
  "max turns": (config) =>
    ask(config, (_, n) => [uses(`t${n}`, "Bash", { command: "echo a" })], { ...bash, maxTurns: 1 }),
  "max budget": (config) =>
    ask(config, (_, n) => [uses(`t${n}`, "Bash", { command: "echo a" })], {
      ...bash,
      maxBudgetUsd: 0.0001,
    }),
  "two prompts, and a compaction": (config) =>
    ask(config, () => [text("done")], turns("one", "/compact", "two")),
  "partial messages": (config) =>
    ask(config, oneCall("echo a"), { ...bash, includePartialMessages: true }),
  "a tool of this process": (config) => {
    const lookUp = config.agent.inSpan(async () => {
      await runAgent({ agent: "expert" }, () => {});
      return { content: [text("order 17")] };
    });
    const shop = createSdkMcpServer({
      name: "shop",
      tools: [tool("lookup", "", { id: z.string() }, lookUp)],
    });
    const call = uses("t1", "mcp__shop__lookup", { id: "17" });
    return ask(config, (_, n) => (n === 0 ? [call] : [text("done")]), {
      allowedTools: ["mcp__shop__lookup"],
      mcpServers: { shop },
    });
  },
  "the environment": async (config) => {
    const command = "echo trace=$TRACEPARENT run=$ENTELIX_PARENT_RUN_ID";
    let own;
    const follow = ({ session_id }) => {
      own ??= config.agent.lastRunOf("acme", session_id);
    };
    const messages = await ask(config, oneCall(command), { ...bash, follow });
    const said = /trace=00-[0-9a-f]{32}-[0-9a-f]{16}-01 run=([0-9a-f-]{36})/;
    const [, run] = said.exec(JSON.stringify(messages)) ?? [];
    if (run === undefined || run !== own) throw new Error(`expected the run ${own}, got ${run}`);
  },
};

/** A call is on its way when the signal fires. */
function ends(config, reason) {
  const abortController = new AbortController();
  const hook = async () => {
    setTimeout(() => abortController.abort(reason), 700);
    return {};
  };
  const options = { ...bash, abortController, hooks: { PreToolUse: [{ hooks: [hook] }] } };
  return ask(config, oneCall("sleep 20"), options);
}

function subAgents(last) {
  const agent = (id, prompt) => {
    const kind = { subagent_type: "general-purpose", run_in_background: false };
    return uses(id, "Agent", { description: prompt, prompt, ...kind });
  };
  if (last.includes("INNER")) return [uses("t3", "Bash", { command: "echo a" })];
  if (last.includes('"t3"')) return [text("inner answer")];
  if (last.includes("OUTER")) return [agent("t2", "INNER")];
  if (last.includes('"t2"')) return [text("outer answer")];
  return last.includes('"t1"') ? [text("done")] : [agent("t1", "OUTER")];
}

await play({
  scenes,
  begin: (bridge, onError) => {
    const options = { sink: bridge, tenant: "acme", onError };
    const agent = claudeAgent(options);
    return { config: { agent, options }, flush: () => agent.flush(), counts: () => agent.counts };
  },
});
