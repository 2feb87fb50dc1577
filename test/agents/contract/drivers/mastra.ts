import { MastraTelemetry } from "../../../../src/entries/mastra.ts";
import { agentRun, answered, asked, REQUEST, tool } from "../../mastra/fake-mastra.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

export const mastra: Driver = {
  name: "Mastra",
  has: WHOLE,
  async play(options, scene) {
    const telemetry = new MastraTelemetry(options);
    const run = agentRun(telemetry);
    const first = asked(run);
    first.inference.end(answered("tool-calls", ""));
    const add = tool(first.step, "add", "c1", { input: INPUT });
    const work = codeOf(scene);
    const { given, thrown } = await settled(add.inside(async () => work()));
    if (thrown === undefined) add.end({ output: given, attributes: { success: true } });
    else add.end({ errorInfo: errorInfo(thrown) });
    first.step.end();
    const step = first.generation.child("model_step");
    const inference = step.child("model_inference", { attributes: REQUEST });
    const { modelThrows } = scene;
    if (modelThrows === undefined) {
      inference.end(answered());
      step.end();
      first.generation.end(answered());
      run.end({ output: { text: "answer-mark" } });
    } else {
      inference.end({ attributes: { finishReason: "error" } });
      run.end({ errorInfo: { ...errorInfo(modelThrows), name: "AI_APICallError" } });
    }
    await telemetry.flush();
    const answer = modelThrows === undefined ? "answer-mark" : undefined;
    return { answer, thrown: modelThrows, counts: telemetry.counts };
  },
};

function errorInfo(thrown: unknown) {
  const { message, name } = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { message, name };
}
