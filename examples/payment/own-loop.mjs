// A payment that waits for a person, in a loop of one's own.
//
//   node examples/payment/own-loop.mjs
import { isInterruption, isToolDenied, runAgent } from "entelix-otel/runtime";
import { DECISIONS, report } from "./report.mjs";

/** What Eve's answer means to the second run. */
const answers = {
  approve: { approved: true, by: "eve", reason: "known customer" },
  edit: { approved: true, by: "eve", reason: "known customer", input: { amount: 90 } },
  reject: { approved: false, by: "eve", reason: "too much" },
};

await report(DECISIONS, async (decision, sink) => {
  const options = { sink, agent: "treasurer", tenant: "acme", threadId: "t1" };
  let paused;
  await runAgent({ ...options, input: "Pay 900 to Ada.", approve: () => "external" }, (run) => {
    paused = run.runId;
    return treasurer(run);
  }).catch((error) => {
    if (!isInterruption(error)) throw error;
  });
  const approve = () => answers[decision];
  await runAgent({ ...options, resumedFromRunId: paused, approve }, treasurer);
});

async function treasurer(run) {
  await run.model("small-1", async () => "pay");
  const pay = ({ input }) => `paid ${input.amount}`;
  try {
    return await run.tool("pay", { id: "call_1", input: { amount: 900 } }, pay);
  } catch (error) {
    if (!isToolDenied(error)) throw error;
    // The model is told why, and the run continues.
    return run.model("small-1", async () => `Not paid: ${error.reason}.`);
  }
}
