import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../src/entries/audit.ts";
import { Bridge } from "../../src/index.ts";
import { defectDialect } from "../../src/replay/dialects/defect/defect-dialect.ts";
import { DefectMapping } from "../../src/replay/dialects/defect/defect-mapping.ts";
import { mapped } from "../../src/replay/runtimes.ts";

describe("a runtime that a mapping reads", () => {
  it("has rows made only where a bridge has an audit log", () => {
    const asked: unknown[] = [];
    const runtime = mapped(defectDialect, (tenant, rows) => {
      asked.push([tenant, rows]);
      return new DefectMapping({ tenant, rows });
    });
    runtime.player(new Bridge({ mode: "replay" }), "acme");
    runtime.player(new Bridge({ mode: "replay", audit: new MemorySessionLog() }), "acme");
    expect(asked).toEqual([
      ["acme", false],
      ["acme", true],
    ]);
  });
});
