import { expect, it } from "vitest";
import {
  type AgentRun,
  interrupt,
  type ModelParameters,
  type Price,
  runAgent,
} from "../../../src/entries/runtime.ts";
import { recorder } from "../../support/recorded-and-replayed.ts";

/** Half of it JSON can't hold: what is left out of the recording is on no span either. */
const parameters: ModelParameters = {
  temperature: 0.2,
  top_p: Number.NaN,
  stop_sequences: ["END"],
  tool_choice: "auto",
};

const ask = (run: AgentRun, input_tokens: number | bigint) =>
  run.model(
    "small-1",
    { provider: "openai", parameters, serverAddress: "https://llm.acme.test:8443/v1" },
    (call) => {
      const usage = { input_tokens, output_tokens: 2, cache_write_input_tokens: 1 };
      call.report({ usage, responseModel: "small-1-0613" });
    },
  );

/** One that is free, one that costs, and one that nobody knows. */
const price: Price = ({ usage }) =>
  usage.input_tokens === 1 ? "0.00" : usage.input_tokens === 2 ? 0.1 + 0.2 : undefined;

it("a recording of requests, usage and cost replays to the identical spans", async () => {
  const { replayed, sink } = recorder();
  const options = { sink, tenant: "acme", threadId: "th-1", price };
  await runAgent({ ...options, agent: "free" }, (run) => ask(run, 1));
  await runAgent({ ...options, agent: "boss" }, async (run) => {
    await ask(run, 2);
    await runAgent({ agent: "helper" }, (helper) => ask(helper, 2n ** 60n));
  });
  const failed = runAgent({ ...options, agent: "failing" }, async (run) => {
    await ask(run, 2);
    throw new Error("no");
  });
  const paused = runAgent({ ...options, agent: "pausing" }, async (run) => {
    await ask(run, 2);
    throw interrupt();
  });
  await Promise.allSettled([failed, paused]);
  const { find } = await replayed();
  const said = (name: string) => find(`invoke_agent ${name}`).attributes;
  expect(said("free")).toMatchObject({
    "entelix.agent.usage.cost": "0.00",
    "entelix.run.cost": "0.00",
  });
  expect(said("boss")).toMatchObject({
    "entelix.agent.usage.cost": "0.3",
    "entelix.run.cost": "0.3",
    "entelix.run.input_tokens": 2,
    "gen_ai.usage.cache_creation.input_tokens": 2,
  });
  expect(said("helper")["entelix.run.input_tokens"]).toBe(2 ** 60);
  expect(said("helper")["entelix.run.cost"]).toBeUndefined();
  for (const name of ["failing", "pausing"]) expect(said(name)["entelix.run.cost"]).toBe("0.3");
});
