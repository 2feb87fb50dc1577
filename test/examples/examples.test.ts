import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRows, verifyLog } from "../../src/entries/audit.ts";
import { codeBlocks, readPage } from "../docs/pages.ts";
import { OtlpServer } from "../support/otlp-server.ts";
import { runExample } from "./run-example.ts";

const RUN = /run {3}([0-9a-f-]{36}) (.*)/g;

/** The output with what is new each time made plain: trace ids and durations. */
function settled(out: string): string[] {
  return out
    .replace(/\b[0-9a-f]{32}\b/g, "ID")
    .replace(/\d+ ms/g, "N ms")
    .trimEnd()
    .split("\n");
}

describe("register-bridge", () => {
  it("sends each run as the trace of its id, and writes the rows of its tool calls", async () => {
    await using server = await OtlpServer.start();
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-test-"));
    try {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
      const { code, err, out } = await runExample("register-bridge.mjs", [folder], env);
      expect([code, err]).toEqual([0, ""]);
      const runs = [...out.matchAll(RUN)].map(([, id = "", ending]) => ({ id, ending }));
      expect(runs.map(({ ending }) => ending)).toEqual([
        "completed",
        "failed: tool refund terminal (auth): provider returned 401: payment gateway: key expired",
      ]);
      const roots = server.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(roots.map(({ traceId }) => traceId)).toEqual(
        runs.map(({ id }) => id.replaceAll("-", "")),
      );
      expect(server.spans).toHaveLength(6);
      expect(roots.map(({ attributes }) => attributes["entelix.audit.ordinal"])).toEqual([8, 5]);
      expect(out).toContain(`audit ${folder}: 13 rows in 2 threads, intact`);
      expect(await verifyLog(folder)).toMatchObject({ ok: true, rows: 13 });
      const texts = [];
      for await (const { event_text } of readRows(folder)) texts.push(event_text);
      expect(texts.join("\n")).not.toContain("payment gateway");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("record-and-replay", () => {
  it("makes the identical spans again", async () => {
    const { code, err, out } = await runExample("record-and-replay.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toEqual([
      "recorded and read 6 events",
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ execute_tool lookup_order  N ms  complete",
      "└─ execute_tool refund  N ms  error: auth: provider returned 401: payment gateway: key expired",
      "3 spans, identical to the live run",
    ]);
  });
});

describe("fingerprints", () => {
  it("prints what docs/fingerprints.md shows", async () => {
    const { code, err, out } = await runExample("fingerprints.mjs");
    expect([code, err]).toEqual([0, ""]);
    const [shown] = codeBlocks(readPage("docs/fingerprints.md"));
    expect(shown?.text).toBe(`$ node examples/fingerprints.mjs\n${out}`);
  });
});

describe("own-provider", () => {
  it("has run ids as trace ids with the generator, and says so without", async () => {
    const { code, err, out } = await runExample("own-provider.mjs");
    expect([code, err]).toEqual([0, ""]);
    const [, , traceId, equal, , warning, , , notEqual] = out.split("\n");
    const [, runId = ""] = /run id {4}(\S+)/.exec(out) ?? [];
    expect(traceId).toBe(`  trace id  ${runId.replaceAll("-", "")}`);
    expect(equal).toBe("  equal     yes");
    expect(warning).toContain("id generator: the tracer provider has another id generator");
    expect(notEqual).toBe("  equal     no");
  });
});

describe("context-in-tools", () => {
  it("shows what tools do under the tool calls that did it", async () => {
    const { code, err, out } = await runExample("context-in-tools.mjs");
    expect([code, err]).toEqual([0, ""]);
    expect(settled(out)).toEqual([
      "trace ID",
      "invoke_agent support  N ms  complete",
      "├─ execute_tool lookup_order  N ms  complete",
      "│  └─ GET /orders/17  N ms  done",
      "└─ execute_tool ask_expert  N ms  complete",
      "   └─ invoke_agent expert  N ms  complete",
      "      └─ execute_tool lookup_order  N ms  complete",
      "         └─ GET /orders/18  N ms  done",
    ]);
  });
});
