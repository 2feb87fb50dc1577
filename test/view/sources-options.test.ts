import { describe, expect, it } from "vitest";
import { sourcesOptions } from "../../src/cli/view/source-options.ts";

const HOW = { follow: true, content: true };

describe("what is said of the sources", () => {
  it("is handed on, with the tenant that replay has by default", () => {
    const values = { jaeger: "http://127.0.0.1:16686", dialect: "graph" };
    expect(sourcesOptions(["a.ndjson"], values, HOW)).toEqual({
      follow: true,
      content: true,
      jaeger: "http://127.0.0.1:16686/",
      dialect: "graph",
      tenant: "default",
    });
    expect(sourcesOptions([], { jaeger: "http://j.example/ui" }, HOW).jaeger).toBe(
      "http://j.example/ui",
    );
  });

  it("says what can be shown where nothing is", () => {
    expect(() => sourcesOptions([], {}, HOW)).toThrow(
      "expected what to show: a recording, spans, the folder of an audit log, postgres://…, or --jaeger URL",
    );
  });

  it.each([
    "postgres://reader:s3cret@db/agents",
    "postgresql://reader:s3cret@db/agents",
    "postgres://db/agents?password=s3cret",
    "postgres://:s3cret@db/agents",
    "postgres://reader:s3cret@[db/agents",
  ])("takes no password in %s, and does not say it again", (place) => {
    let said = "";
    try {
      sourcesOptions([place], {}, HOW);
    } catch (error) {
      said = String(error);
    }
    expect(said).toContain("expected");
    expect(said).not.toContain("s3cret");
  });

  it("takes a database without a password", () => {
    const place = "postgres://reader@db/agents?schema=mine";
    expect(() => sourcesOptions([place], {}, HOW)).not.toThrow();
  });

  it.each([
    [{ jaeger: "127.0.0.1:16686" }, "--jaeger: expected an address"],
    [{ jaeger: "http://me:s3cret@j.example" }, "--jaeger: expected an address without user"],
    [{ dialect: "entelx" }, "--dialect: expected one of"],
    [{ tenant: "" }, "--tenant: expected"],
  ])("refuses %j", (values, said) => {
    expect(() => sourcesOptions(["a"], values, HOW)).toThrow(said);
  });
});
