import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { Bridge, setUnclassifiedWarning } from "../../../src/index.ts";
import { collectMetrics } from "../../bridge/metrics/meter.ts";
import { hasSecret, SECRETS, somePoisoned } from "../../events/errors/vendor-errors.ts";
import { IS_DEEP } from "../../support/runs.ts";
import { collectSpans } from "../../support/spans.ts";

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

/** Where a run may get an error from. */
const WAYS: readonly ((run: AgentRun, thrown: unknown) => Promise<unknown>)[] = [
  (run, thrown) => run.tool("pay", () => fail(thrown)).catch(() => {}),
  (run, thrown) => run.tool("pay", () => fail(thrown)),
  (run, thrown) => run.model("small-1", () => fail(thrown)),
  (run, thrown) => run.step("charge", () => run.tool("pay", () => fail(thrown))),
  (_, thrown) => fail(thrown),
];

async function fail(thrown: unknown): Promise<never> {
  throw thrown;
}

const tenant = "acme";
const json = (value: unknown) =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner));

describe("a text of others", () => {
  it("stands in no row and in no label of a metric, wherever a run gets it", async () => {
    const log = new MemorySessionLog();
    const { provider: meterProvider, collect } = collectMetrics();
    const { provider: tracerProvider } = collectSpans();
    const sink = new Bridge({ audit: log, meterProvider, tracerProvider, exceptions: false });
    const found: string[] = [];
    let rows = 0;
    let at = 0;
    for (const { name, thrown } of somePoisoned(IS_DEEP ? 8 : 2)) {
      const way = WAYS[at % WAYS.length];
      at += 1;
      const terminalToolErrors = at % 2 === 0 ? ["validation" as const] : undefined;
      await runAgent(
        { sink, agent: "support", tenant, threadId: name, terminalToolErrors },
        async (run) => way?.(run, thrown),
      ).catch(() => {});
      const stored = await log.loadSince({ tenant_id: tenant, thread_id: name }, 0);
      rows += stored.length;
      if (hasSecret(json(stored.map(({ event }) => event)))) found.push(name);
    }
    expect(found).toEqual([]);
    expect(rows).toBeGreaterThan(300);
    const { metrics } = await collect();
    const labels = metrics.flatMap(({ dataPoints }) =>
      dataPoints.map(({ attributes }) => attributes),
    );
    expect(labels.length).toBeGreaterThan(20);
    for (const { "entelix.failure.fingerprint": fingerprint, ...others } of labels) {
      expect(hasSecret(json(others))).toBe(false);
      // The name of an error's class stands in it by design, so only what looks like one.
      expect(String(fingerprint)).not.toContain(SECRETS[0]);
    }
  });
});

describe("the schema of a tool's input", () => {
  const schema = z.object({ amount: z.number().min(3) });
  const vendor = z.record(z.string(), z.object({ amount: z.number() }));

  async function toldOf(options: object, fn: () => unknown) {
    const log = new MemorySessionLog();
    const sink = new Bridge({ audit: log, tracerProvider: collectSpans().provider });
    await runAgent({ sink, agent: "support", tenant, threadId: "t" }, (run) =>
      run.tool("pay", options, fn).catch(() => {}),
    );
    const stored = await log.loadSince({ tenant_id: tenant, thread_id: "t" }, 0);
    return stored.flatMap(({ event }) => ("content" in event ? [event.content] : []));
  }

  it("lets the model's text name what is wrong with the input", async () => {
    const wrong = () => schema.parse({ amount: 1 });
    expect(await toldOf({ schema }, wrong)).toEqual(["invalid input: amount: too_small (3)"]);
    expect(await toldOf({}, wrong)).toEqual(["invalid input: *: too_small"]);
  });

  it("gives no key of a vendor's answer", async () => {
    const answer = { "alice.smith@example.com": { amount: "none" } };
    expect(await toldOf({ schema }, () => vendor.parse(answer))).toEqual([
      "invalid input: *.amount: expected number",
    ]);
  });

  it.each(["zod", 7, true])("is refused where it is none: %j", async (given) => {
    const { provider: tracerProvider } = collectSpans();
    const sink = new Bridge({ tracerProvider });
    const called = runAgent({ sink, agent: "support", tenant }, (run) =>
      Reflect.apply(run.tool, run, ["pay", { schema: given }, () => {}]),
    );
    await expect(called).rejects.toThrow(
      `tool pay: expected schema to be a schema, got ${typeof given}`,
    );
  });
});
