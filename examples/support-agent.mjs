// A small agent that stands in for yours. It works through a plan of tool calls and tells a sink what
// happens; anything with `send(event, envelope)` is a sink.
import { setTimeout as sleep } from "node:timers/promises";
import {
  AgentError,
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "entelix-otel";
import { v7 as uuidv7 } from "uuid";

/** Tools that take a moment; one of them fails. */
export const TOOLS = {
  async lookup_order({ order }) {
    await sleep(25);
    return { order, state: "delivered", total: "41.90" };
  },
  async refund() {
    await sleep(15);
    throw AgentError.http(401, "payment gateway: key expired");
  },
  async send_reply({ text }) {
    await sleep(10);
    return { sent: text.length };
  },
};

/**
 * Runs the agent once.
 *
 * A tool that fails is told to the model, and the run goes on; a tool marked `must` ends the run.
 *
 * @param options.inside runs a tool call, so that a caller can put it into a context of its own.
 * @returns run and tenant; with `error` when the run failed.
 */
export async function runAgent({
  sink,
  agent = "support",
  plan,
  tools = TOOLS,
  tenant_id = "acme",
  thread_id,
  parent_run_id,
  inside = (_run, _toolUseId, call) => call(),
}) {
  const run = { run_id: uuidv7(), tenant_id };
  // The envelope brings what events lack: an id against redelivery, the time, the conversation.
  const send = (event) =>
    sink.send(
      { ...event, ...run },
      { event_id: uuidv7(), timestamp: new Date().toISOString(), thread_id },
    );
  // A sink may stop a run at its start and at its end. What happens between is only told.
  const tell = async (event) => {
    try {
      await send(event);
    } catch {
      // The sink counts what it could not take.
    }
  };

  await send({ type: "started", agent, parent_run_id });
  try {
    for (const [index, { tool, input, must = false }] of plan.entries()) {
      const call = { tool_use_id: `call_${index + 1}`, tool };
      const begun = performance.now();
      const duration = () => ({ duration_ms: Math.round(performance.now() - begun) });
      await tell({ type: "tool_start", ...call, input });
      try {
        const output = await inside(run, call.tool_use_id, () => tools[tool](input, run));
        await tell({ type: "tool_complete", ...call, output, ...duration() });
      } catch (error) {
        await tell({
          type: "tool_error",
          ...call,
          error: operatorText(error),
          error_for_llm: renderForLlm(error),
          envelope: envelopeOf(error),
          kind: classifyToolError(error),
          ...duration(),
        });
        if (must) throw terminal(error, tool);
      }
    }
  } catch (error) {
    await tell({
      type: "failed",
      error: operatorText(error),
      envelope: envelopeOf(error),
      kind: classifyFailure(error),
    });
    return { ...run, error };
  }
  await send({ type: "complete", state: { replied: true }, usage: null });
  return run;
}

function operatorText(error) {
  return error instanceof Error ? error.message : String(error);
}

function terminal(error, tool) {
  return AgentError.toolErrorTerminal(classifyToolError(error), tool, error);
}
