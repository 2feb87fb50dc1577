import { Agent, run, withResponseSpan } from "@openai/agents-core";
import { afterAll, expect, it } from "vitest";
import { listening } from "../../support/listening.ts";
import { agent } from "./scenes.ts";
import { says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const service = await listening();
afterAll(() => service[Symbol.asyncDispose]());

const port = Number(new URL(service.url).port);
const ask = async () => (await fetch(`${service.url}/v1/responses`)).text();

/** Where the spans of the model calls say that they asked. */
async function serversOf(heard: ReturnType<typeof listen>) {
  await heard.processor.forceFlush();
  return heard
    .spans()
    .filter(({ name }) => name.startsWith("chat"))
    .map(({ attributes }) => [attributes["server.address"], attributes["server.port"]]);
}

it("is the server that the model call sent its request to", async () => {
  const heard = listen();
  const asks = async () => {
    await ask();
    return [says("done")];
  };
  await run(agent("A", [asks]), "hi");
  const stream = await run(agent("A", [asks]), "hi", { stream: true });
  await stream.completed;
  expect(await serversOf(heard)).toEqual([
    ["127.0.0.1", port],
    ["127.0.0.1", port],
  ]);
});

it("is known of a call that failed, and of each of several at once", async () => {
  const heard = listen();
  const fails = async () => {
    await ask();
    throw new Error("500 out of order");
  };
  const silent = async () => [says("done")];
  const ended = await Promise.allSettled([
    run(agent("A", [fails]), "hi"),
    run(agent("B", [silent]), "hi"),
  ]);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  const [failed] = heard.told.filter(({ event }) => event.type === "model_error");
  expect(failed?.event).toMatchObject({ server_address: "127.0.0.1", server_port: port });
  expect(await serversOf(heard)).toEqual(
    expect.arrayContaining([
      ["127.0.0.1", port],
      [undefined, undefined],
    ]),
  );
});

it("is not that of a request outside of model calls", async () => {
  const heard = listen();
  const model = {
    getResponse: () =>
      withResponseSpan(async (span) => {
        span.spanData._response = { output: [] };
        throw new Error("no connection");
      }),
    getStreamedResponse: () => {
      throw new Error("not used");
    },
  };
  const told = new Agent({ name: "A", model, instructions: ask });
  await expect(run(told, "hi")).rejects.toThrow("no connection");
  expect(await serversOf(heard)).toEqual([[undefined, undefined]]);
});
