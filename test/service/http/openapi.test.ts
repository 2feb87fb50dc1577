import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  INGEST_METRICS,
  type IngestMetric,
} from "../../../src/service/http/ingest-metric-names.ts";
import { openapiDocument, openapiText } from "../../../src/service/http/openapi.ts";
import { REFUSALS } from "../../../src/service/http/refusal.ts";
import { ROUTES } from "../../../src/service/http/routes.ts";
import { readPage, section, tableRows } from "../../docs/pages.ts";

describe("the OpenAPI document", () => {
  const text = openapiText();

  it("is the one in docs/openapi.json (entelix-otel serve --openapi prints it)", () => {
    const file = readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8");
    expect(file).toBe(text);
  });

  it("has every path of the server with its methods, and no other", () => {
    const paths = Object.entries(openapiDocument().paths ?? {});
    const documented = paths.map(([path, operations]) => [path, Object.keys(operations)]);
    const served = Object.entries(ROUTES).map(([path, methods]) => [
      path,
      methods.filter((method) => method !== "HEAD").map((method) => method.toLowerCase()),
    ]);
    expect(documented).toEqual(served);
  });

  it("says of every refusal what it means, but for a path that is not there", () => {
    const told = Object.keys(REFUSALS).filter((code) => text.includes(`\`${code}\`: `));
    expect(told).toEqual(Object.keys(REFUSALS).filter((code) => code !== "not_found"));
  });

  it("refers to nothing that is not there", () => {
    const document: unknown = JSON.parse(text);
    const references = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = ""]) => path);
    expect(references.length).toBeGreaterThan(20);
    for (const path of references) {
      const found = path
        .split("/")
        .reduce<unknown>((at, name) => Reflect.get(Object(at), name), document);
      expect(found, path).toBeTypeOf("object");
    }
  });
});

describe("docs/serve.md", () => {
  const page = readPage("docs/serve.md");

  it("has every metric", () => {
    const rows = tableRows(section(page, "Metrics"));
    const known = Object.entries<IngestMetric>(INGEST_METRICS).map(([name, metric]) => [
      name,
      metric.kind,
      metric.labels.join(", "),
      metric.about,
    ]);
    expect(rows.map((cells) => cells.map((cell) => cell.replaceAll("`", "")))).toEqual(known);
  });

  it("has every refusal with its status", () => {
    const rows = tableRows(section(page, "Refusals"));
    expect(rows.map(([code = "", status]) => [code.replaceAll("`", ""), Number(status)])).toEqual(
      Object.entries(REFUSALS).map(([code, { status }]) => [code, status]),
    );
  });
});
