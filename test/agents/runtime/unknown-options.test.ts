import { afterEach, expect, it, vi } from "vitest";
import { runAgent } from "../../../src/entries/runtime.ts";
import { keepingSink } from "../../support/told.ts";

afterEach(() => void vi.restoreAllMocks());

it("of calls are reported: a misspelt `approve` would call the tool", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const tool: object = { aprove: () => false };
  const model: object = { provder: "openai", parameters: { max_output_tokens: 1 } };
  const step: object = { inputs: 1 };
  await runAgent({ sink: keepingSink("all").sink, tenant: "acme", agent: "a" }, async (run) => {
    await run.tool("refund", tool, () => 1);
    await run.model("small-1", model, () => "hi");
    await run.step("look", step, () => 1);
  });
  expect(warn.mock.calls.map(([message]) => message)).toEqual([
    "entelix-otel: unknown option `aprove`: did you mean `approve`?",
    "entelix-otel: unknown option `provder`: did you mean `provider`?",
    "entelix-otel: unknown option `inputs`: did you mean `input`?",
  ]);
});

it("of runs are named in the error about an option that is missing", async () => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { sink } = keepingSink("all");
  const given = JSON.parse('{"agent":"a","tenantId":"acme"}');
  await expect(runAgent({ ...given, sink }, () => 1)).rejects.toThrow(
    new TypeError(
      "tenant: expected a text that is not empty, got undefined; unknown option `tenantId`: did you mean `tenant`?",
    ),
  );
});
