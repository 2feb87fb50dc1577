import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { DEFAULT_INGEST_LIMITS } from "../../../src/service/http/ingest-limits.ts";
import { IngestService } from "../../../src/service/http/ingest-service.ts";
import { Folder } from "../../cli/support/folder.ts";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { until } from "../../e2e/support/until.ts";
import { oldBacklog } from "../../replay/input/support/backlogs.ts";

/** A service on a journal, whose spans are kept here. */
async function start(journal: string, spans: ReadableSpan[]) {
  const errors: string[] = [];
  const service = await IngestService.start({
    journal,
    host: "127.0.0.1",
    port: 0,
    tokens: undefined,
    rate: undefined,
    tenant: "default",
    service: { resource: emptyResource(), serviceName: "test" },
    spans: {
      store: async (batch) => {
        spans.push(...batch);
        return { refused: 0 };
      },
      close: async () => {},
    },
    audit: undefined,
    onSpans: { captureContent: false },
    lookback: 100_000,
    runAgeMs: 86_400_000,
    limits: DEFAULT_INGEST_LIMITS,
    onError: (error, where) => void errors.push(`${where}: ${String(error)}`),
    onTorn: () => {},
  });
  return { service, errors, url: `http://127.0.0.1:${service.address.port}` };
}

describe("a backlog that is sent to a service after newer runs", () => {
  it.each([
    ["one body", [302]],
    ["several bodies", [100, 300, 301, 302]],
    ["a body before a restart, and one after it", [301, "restart", 302]],
  ] as const)("makes a complete run: %s", async (_, ends) => {
    using folder = new Folder();
    const lines = oldBacklog();
    const spans: ReadableSpan[] = [];
    let { errors, service, url } = await start(folder.at("journal"), spans);
    let from = 0;
    for (const end of ends) {
      if (end === "restart") {
        await service.stop();
        ({ errors, service, url } = await start(folder.at("journal"), spans));
        continue;
      }
      const { results } = await sendLines(url, lines.slice(from, end));
      expect(results.filter(({ status }) => status !== "accepted")).toEqual([]);
      from = end;
    }
    const own = () => spans.filter(({ name }) => name.startsWith("invoke_agent backlog"));
    await until("the run of the backlog", () => own()[0]);
    await service.stop();
    expect(own().map(({ attributes }) => attributes["entelix.run.outcome"])).toEqual(["complete"]);
    expect(own()[0]?.attributes).not.toHaveProperty("entelix.run.start_unseen");
    expect(spans.filter(({ name }) => name.startsWith("invoke_agent"))).toHaveLength(151);
    expect(errors).toEqual([]);
  });
});
