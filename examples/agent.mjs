import { runAgent } from "entelix-otel/runtime";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "shop" });
const sink = telemetry.createBridge({ captureContent: true }); // shows texts: off by default

// A call waits for the answer, for as long as a person takes.
const approve = ({ input }) => (input.sum <= 50 ? "approved" : { denied: "above 50" });

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
