import { runAgent } from "entelix-otel/runtime";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "shop" });
// Shows texts, and who approved: both are off by default.
const sink = telemetry.createBridge({ captureContent: true, approvalPerson: true });

// Ask a person here: the call waits for the answer, as long as it takes.
const approve = async ({ input }) =>
  input.sum <= 50
    ? { approved: true, by: "ann" }
    : { approved: false, by: "ann", reason: "above 50" };

// A run that starts inside another one is its sub-agent. Here is a text instead of your model.
const askExpert = () =>
  runAgent({ agent: "expert" }, (run) => run.model("small-1", () => "delivered twice: refund it"));

try {
  const agent = { sink, agent: "support", tenant: "acme", input: "Refund orders 17 and 18." };
  const answer = await runAgent(agent, async (run) => {
    const answers = [];
    for (const [order, sum] of Object.entries({ 17: 41.9, 18: 900 })) {
      await run.tool("ask_expert", { input: { order } }, askExpert);
      const refund = run.tool("refund", { input: { sum }, approve }, () => `refunded ${sum}`);
      answers.push(await refund.catch((error) => error.message));
    }
    return answers.join(", ");
  });
  console.log(answer);
} finally {
  await telemetry.shutdown(); // sends what waits, also of a run that failed
}
