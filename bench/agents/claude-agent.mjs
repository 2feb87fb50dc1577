// The Claude Agent SDK's own process takes hundreds of milliseconds a run, in which a cost of microseconds would drown:
// here `query()` plays a recording, and calls the hooks in its options as the SDK does.
import { sessionOf } from "./claude-agent-session.mjs";
import { langfuse, ourSides, stock } from "./telemetry.mjs";
import { AGENT, MODEL, SYSTEM } from "./texts.mjs";

/** Prompt to the steps that are played for it. */
const sessions = new Map();

const sdk = {
  query({ prompt, options }) {
    const steps = sessions.get(prompt);
    sessions.delete(prompt);
    return played(steps, options.hooks ?? {});
  },
};

async function* played(steps, hooks) {
  for (const { event, input, message } of steps) {
    if (message !== undefined) yield message;
    else {
      const callbacks = (hooks[event] ?? []).flatMap((matcher) => matcher.hooks);
      await Promise.all(callbacks.map((call) => call(input, input.tool_use_id, {})));
    }
  }
}

export const IDLE = sdk.query;

const openInference = (setup) => async (given) => {
  const { ClaudeAgentSDKInstrumentation } = await import(
    "@arizeai/openinference-instrumentation-claude-agent-sdk"
  );
  const { flush, provider } = await setup(given);
  const instrumentation = new ClaudeAgentSDKInstrumentation({ tracerProvider: provider });
  // A copy, because the idle side needs the original.
  return { handler: instrumentation.manuallyInstrument({ ...sdk }).query, flush };
};

/** Name to what makes `query()` and its flush. */
export const SIDES = {
  ...ourSides("claude-agent", ({ claudeAgent }, sink) => {
    const agent = claudeAgent({ sink, tenant: "acme" });
    return { handler: (params) => agent.query(sdk.query, params), flush: () => agent.flush() };
  }),
  openinference: openInference(stock),
  // Langfuse has no instrumentation of its own for this SDK: its docs name this one.
  langfuse: openInference(langfuse),
};

/** What the application makes of a message. */
export let last;

export function workload(run) {
  return {
    prepare: () => sessionOf(run),
    async play(query, { prompt, steps }) {
      sessions.set(prompt, steps);
      const options = { agent: AGENT, model: MODEL, systemPrompt: SYSTEM };
      for await (const message of query({ prompt, options })) last = message;
    },
  };
}
