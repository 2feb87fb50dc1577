import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { Folder } from "../../cli/support/folder.ts";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { until } from "../../e2e/support/until.ts";
import { oldBacklog } from "../../replay/input/support/backlogs.ts";
import { serveHere } from "./support/in-process.ts";

describe("a backlog that is sent to a service after newer runs", () => {
  it.each([
    ["one body", [302]],
    ["several bodies", [100, 300, 301, 302]],
    ["a body before a restart, and one after it", [301, "restart", 302]],
  ] as const)("makes a complete run: %s", async (_, ends) => {
    using folder = new Folder();
    const lines = oldBacklog();
    const spans: ReadableSpan[] = [];
    const place = { journal: folder.at("journal"), lookback: 100_000 };
    let { errors, service, url } = await serveHere(spans, place);
    let from = 0;
    for (const end of ends) {
      if (end === "restart") {
        await service.stop();
        ({ errors, service, url } = await serveHere(spans, place));
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
