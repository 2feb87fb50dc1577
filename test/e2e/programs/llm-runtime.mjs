// Three runs of an agent in TypeScript, sent as the environment says: one that answers although a tool fails, one
// whose model fails, and a person's. Messages are in the form of the GenAI conventions.
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";

const { CONVENTIONS: conventions } = process.env;
const tracing = setupTracing({
  serviceName: "llm-runtime",
  shutdownTimeoutMs: 180_000,
  conventions,
});
const sink = tracing.createBridge();

const question = { role: "user", parts: [{ type: "text", content: "Refund order 17." }] };
const order = { order: 17 };
const asked = ["look_up", "refund"].map((name, index) => ({
  type: "tool_call",
  id: `call_${index + 1}`,
  name,
  arguments: order,
}));
const request = { role: "assistant", parts: asked, finish_reason: "tool_call" };
const answer = {
  role: "assistant",
  parts: [{ type: "text", content: "A colleague will refund you." }],
  finish_reason: "stop",
};

const model = (run, input, message, input_tokens, output_tokens) =>
  run.model("small-1", { provider: "acme", input }, (call) => {
    call.report({
      usage: { input_tokens, output_tokens },
      finishReasons: [message.finish_reason],
      output: [message],
    });
    return message;
  });

const options = { sink, tenant: "acme", input: [question] };

await runAgent({ ...options, agent: "answers", threadId: "runtime-1" }, async (run) => {
  await model(run, [question], request, 31, 7);
  const state = await run.tool("look_up", { id: "call_1", input: order }, () => ({
    ...order,
    state: "delivered",
  }));
  const fails = () => {
    throw new RangeError("the payment gateway is away");
  };
  const told = await run
    .tool("refund", { id: "call_2", input: order }, fails)
    .catch((error) => error.message);
  const results = [state, told].map((response, index) => ({
    role: "tool",
    parts: [{ type: "tool_call_response", id: `call_${index + 1}`, response }],
  }));
  return [await model(run, [question, request, ...results], answer, 52, 9)];
});

await runAgent({ ...options, agent: "fails", threadId: "runtime-2" }, (run) =>
  run.model("small-1", { provider: "acme", input: [question] }, () => {
    throw new Error("the model is away");
  }),
).catch(() => undefined);

// A person's run, in a session of the application that is not the conversation.
const visit = { agent: "visits", threadId: "runtime-3", user: "user-7", session: "visit-3" };
await runAgent({ ...options, ...visit }, (run) => model(run, [question], answer, 31, 7));

await tracing.shutdown();
