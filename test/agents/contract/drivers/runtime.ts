import { runAgent } from "../../../../src/entries/runtime.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

const MODEL = { provider: "acme", input: "question-mark" };
const USAGE = { input_tokens: 10, output_tokens: 5 };

export const runtime: Driver = {
  name: "runAgent",
  has: { ...WHOLE, tenants: false, need: false },
  async play({ tenant, context, ...options }, scene) {
    const given = { ...options, ...context?.(), tenant: String(tenant) };
    const asked = { ...given, agent: "support", input: "question-mark" };
    const ended = await settled(
      runAgent(asked, async (run) => {
        await run.model("small-1", MODEL, (call) => call.report({ usage: USAGE }));
        await settled(run.tool("add", { id: "c1", input: INPUT }, async () => codeOf(scene)()));
        return run.model("small-1", MODEL, (call) => {
          if (scene.modelThrows !== undefined) throw scene.modelThrows;
          call.report({ usage: USAGE, output: "answer-mark" });
          return "answer-mark";
        });
      }),
    );
    return {
      answer: ended.given,
      thrown: ended.thrown,
      counts: { refused: 0, sinkFailures: 0, faults: 0 },
    };
  },
};
