// A support agent of three shops. It looks up orders, searches help pages, asks another agent, and wants a person's
// approval before it pays money back. One model call is refused once (429), one refund fails and is tried again, one run
// repeats itself and is stopped, and one fails. Its model is a small server on this machine, so you need no key.
//
//   npm install entelix-otel @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/sdk-metrics \
//     langchain @langchain/core @langchain/langgraph @langchain/openai zod
//   npx entelix-otel view --listen --open        # in one terminal
//   node main.mjs                                # in another
//
// `--record FILE` also writes the events into a file, which is replaced. `--pace 1` makes people and models as slow as
// real ones (three minutes); by default, all of them are 20 times as fast. `entelix-otel demo` plays such a recording.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { Command } from "@langchain/langgraph";
import { LangChainHandler } from "entelix-otel/langchain";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { setupTelemetry } from "entelix-otel/telemetry";
import { price, supportAgent } from "./agent.mjs";
import { CONVERSATIONS } from "./conversations.mjs";
import { startModelServer } from "./model-server.mjs";
import { paceOf } from "./pace.mjs";

const { values } = parseArgs({ options: { record: { type: "string" }, pace: { type: "string" } } });
const pace = paceOf(values.pace);

// Spans go to OTEL_EXPORTER_OTLP_ENDPOINT, else to port 4318 of this machine. A recording needs no receiver.
if (values.record !== undefined && process.env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) {
  process.env.OTEL_TRACES_EXPORTER ??= "none";
  process.env.OTEL_METRICS_EXPORTER ??= "none";
}
const telemetry = setupTelemetry({ serviceName: "support" });
// The customers are made up, so spans may show what they say and who decided.
const bridge = telemetry.createBridge({ captureContent: true, approvalPerson: true });
const recorder = values.record === undefined ? undefined : recorderOf(values.record);
const handler = new LangChainHandler({
  sink: recorder === undefined ? bridge : new FanOutSink([bridge, recorder]),
  tenant: ({ tenant }) => tenant,
  context: ({ channel, user }) => ({ user, tags: [channel] }),
  decidedBy: (_decision, { approver }) => approver,
  price,
});

const server = await startModelServer(pace);
const agent = supportAgent(server.url, pace);
try {
  await Promise.all(CONVERSATIONS.map(hold));
} finally {
  await handler.flush();
  await server.close();
  await recorder?.shutdown();
  await telemetry.shutdown();
}

/** Holds one conversation. A run that fails ends its turn, not the conversation. */
async function hold({ beginsAfterMs, channel, tenant, thread, turns, user }) {
  await pace.wait(beginsAfterMs);
  for (const { afterMs = 0, approver, ask, decision } of turns) {
    await pace.wait(afterMs);
    const input =
      ask === undefined
        ? new Command({ resume: { decisions: [decision] } })
        : { messages: [{ role: "user", content: ask }] };
    const config = {
      callbacks: [handler],
      configurable: { thread_id: thread },
      metadata: { approver, channel, tenant, user },
      // Of the graph: a turn of the agent has four steps.
      recursionLimit: 60,
    };
    const end = await agent
      .invoke(input, config)
      .then(endOf, ({ message }) => `failed: ${message}`);
    console.log(`${tenant} · ${ask ?? `${approver} says: ${decision.type}`}\n  ${end}`);
  }
}

/** The agent's last message on one line, or what it waits for. */
function endOf({ __interrupt__: [interrupt] = [], messages }) {
  if (interrupt !== undefined) return `waits: ${interrupt.value.actionRequests[0].description}`;
  return messages.at(-1).text.replaceAll(/\s+/g, " ");
}

/** The file is replaced. */
function recorderOf(path) {
  rmSync(path, { force: true });
  return new RecorderSink({
    path,
    source: bridge,
    // Stack traces name the files of this machine.
    redact: (value, { attribute }) => (attribute === "exception.stacktrace" ? "" : value),
  });
}
