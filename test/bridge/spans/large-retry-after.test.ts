import { describe, expect, it } from "vitest";
import { parseExact } from "../../../src/entries/events.ts";
import { entelixDialect } from "../../../src/entries/replay.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { bench } from "../../support/run-events.ts";

/** What a line says, as a replay reads it. */
function decoded(text: string) {
  const line = parseExact(text);
  if (!isJsonObject(line)) throw new TypeError(text);
  const result = entelixDialect.decode(line);
  if (result.outcome !== "event") throw new TypeError(JSON.stringify(result));
  return result;
}

const RUN = `"run_id":"018f3c7a-0000-7000-8000-000000000002","tenant_id":"acme"`;

describe("a time to wait before a retry of 64 bits", () => {
  it.each([
    ["9007199254740993", 9007199254740992],
    ["18446744073709551615", 2 ** 63 - 1024],
  ])("%s s do not cost the failure its line, and fit OTLP's integers", async (secs, shown) => {
    const test = bench();
    const failed = decoded(
      `{"timestamp":"2026-04-29T12:00:00Z","type":"failed",${RUN},"error":"429",` +
        `"envelope":{"wire_code":"rate_limited","wire_class":"client","retry_after_secs":${secs}}}`,
    );
    test.sink.send(failed.event, failed.envelope);
    await test.sink.shutdown();
    const [run] = test.trees();
    expect(run?.attributes["entelix.failure.kind"]).toBe("model_dispatch");
    expect(run?.attributes["entelix.error.retry_after_secs"]).toBe(shown);
    expect(test.reports).toEqual([]);
  });
});
