import { expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { collectSpans } from "../../support/spans.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };

it.each([
  ["a text", "region=eu".repeat(100_000), "got string"],
  ["a number", 7, "got number"],
])("an attribute hook that returns %s adds nothing, and is reported", async (_, returned, got) => {
  const { provider, spans } = collectSpans();
  const problems: unknown[] = [];
  const bridge = new Bridge({
    tracerProvider: provider,
    onError: (error) => problems.push(String(error)),
    // Programs without types return anything.
    attributes: () => JSON.parse(JSON.stringify(returned)),
  });
  await bridge.send({ type: "started", ...RUN, agent: "a" });
  await bridge.send({ type: "complete", ...RUN, usage: null, state: null });
  expect(problems).toEqual([expect.stringContaining(got)]);
  const [span] = spans();
  expect(
    Object.keys(span?.attributes ?? {}).filter((name) => !/^(entelix|gen_ai)\./.test(name)),
  ).toEqual([]);
});
