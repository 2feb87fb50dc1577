// Scenes of Mastra's workflows: tasks, branches, loops and ends. Plain JavaScript, as the program that plays them.
import { createStep } from "@mastra/core/workflows";
import { settled } from "./adapters-scenes.mjs";
import { says } from "./language-model.mjs";
import { scripted } from "./mastra-model.mjs";

/** @returns the scenes, by name. */
export const workflows = ({ agentOf, begin, flowOf, stepOf, waiting }) => ({
  async "workflow with tasks of a list"() {
    const list = stepOf("list", async () => [1, 2, 3]);
    const each = stepOf("each", async ({ inputData }) => 2 * inputData);
    const sum = stepOf("sum", async ({ inputData }) => inputData);
    const flow = flowOf().then(list).foreach(each, { concurrency: 3 }).then(sum);
    await (await begin(flow)).started;
  },
  async "workflow of which one task of a list fails"() {
    const list = stepOf("list", async () => [1, 2, 3]);
    const each = stepOf("each", async ({ inputData }) => {
      // It starts first.
      if (inputData === 1) throw new RangeError("out of order");
    });
    const flow = flowOf().then(list).foreach(each, { concurrency: 3 });
    await (await begin(flow)).started;
  },
  async "workflow of which one task of a list waits"() {
    const list = stepOf("list", async () => [1, 2, 3]);
    const each = waiting("each", (n) => n === 3);
    const flow = flowOf().then(list).foreach(each, { concurrency: 3 });
    const { run, started } = await begin(flow);
    await started;
    await run.resume({ step: "each", resumeData: { ok: true } });
  },
  async "workflow of which one branch waits"() {
    const quick = stepOf("quick", async () => 1);
    const last = stepOf("last", async ({ inputData }) => inputData);
    const flow = flowOf()
      .parallel([quick, waiting("ask")])
      .then(last);
    const { run, started } = await begin(flow);
    await started;
    await run.resume({ step: "ask", resumeData: { ok: true } });
  },
  async "workflow with a retry, a branch, a loop and an early end"() {
    let tries = 0;
    const flaky = stepOf(
      "flaky",
      async () => {
        tries += 1;
        if (tries === 1) throw new RangeError("out of order");
        return { n: 1 };
      },
      { retries: 1 },
    );
    const helper = agentOf(scripted(says("hello")), { id: "helper", name: "helper" });
    const flow = flowOf()
      .then(flaky)
      .branch([
        [async () => true, stepOf("yes", async ({ inputData }) => inputData)],
        [async () => false, stepOf("no", async () => ({}))],
      ])
      .then(stepOf("unpack", async ({ inputData }) => inputData.yes))
      .dountil(
        stepOf("loop", async ({ inputData }) => ({ n: inputData.n + 1 })),
        async ({ inputData }) => inputData.n >= 3,
      )
      .then(stepOf("prompt", async () => ({ prompt: "hi" })))
      .then(createStep(helper))
      .then(stepOf("stop", async ({ bail }) => bail({})))
      .then(stepOf("never", async () => 1));
    await (await begin(flow, {}, { agents: { helper } })).started;
  },
  async "workflow that is cancelled in a step which does not look"() {
    let release;
    const deaf = stepOf("deaf", async () => {
      setImmediate(async () => {
        await run.cancel();
        release();
      });
      await new Promise((resolve) => {
        release = resolve;
      });
    });
    const { run, started } = await begin(
      flowOf()
        .then(deaf)
        .then(stepOf("after", async () => 1)),
    );
    await started;
    await settled();
  },
});
