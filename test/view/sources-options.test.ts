import { describe, expect, it } from "vitest";
import { sourcesOptions } from "../../src/view/commands/source-options.ts";

const HOW = { follow: true, content: true };

describe("what is said of the sources", () => {
  it("is handed on", () => {
    const values = { jaeger: "http://127.0.0.1:16686", dialect: "graph" };
    expect(sourcesOptions(["a.ndjson"], values, HOW)).toEqual({
      follow: true,
      content: true,
      jaeger: "http://127.0.0.1:16686",
      dialect: "graph",
    });
  });

  it("says what can be shown where nothing is", () => {
    expect(() => sourcesOptions([], {}, HOW)).toThrow(
      "expected a source: a recording, spans, the folder of an audit log, postgres://…, --jaeger URL, or --listen",
    );
  });
});
