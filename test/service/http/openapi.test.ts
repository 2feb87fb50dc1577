import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import document from "../../../docs/openapi.json" with { type: "json" };
import { WAIT_KINDS } from "../../../src/bridge/door.ts";
import { DIALECT_NAMES } from "../../../src/replay/door.ts";
import { INGEST_METRICS, type IngestMetric } from "../../../src/service/http/ingest-metrics.ts";
import { MOST_REASONS } from "../../../src/service/http/line-outcomes.ts";
import { MOST_RUNS, readRunsQuery, USUAL_RUNS } from "../../../src/service/http/open-runs.ts";
import { REFUSALS, type RefusalCode } from "../../../src/service/http/refusal.ts";
import { OPENAPI_TEXT, ROUTES, type Route } from "../../../src/service/http/routes.ts";
import { VERSION } from "../../../src/version.ts";
import { readPage, section, tableRows } from "../../docs/pages.ts";

const OF_ANY_ROUTE: readonly RefusalCode[] = [
  "bad_request",
  "method",
  "slow",
  "expectation",
  "host",
  "head_size",
  "internal",
  "not_implemented",
];

/** The refusals that each route can answer: all but of a path that is not there. */
const REFUSED: Readonly<Record<Route, readonly RefusalCode[]>> = {
  "/v1/events": [
    ...OF_ANY_ROUTE,
    "encoding",
    "dialect",
    "token",
    "forbidden",
    "body_size",
    "line_count",
    "media_type",
    "rate",
    "backlog",
    "store",
    "memory",
    "connections",
    "draining",
  ],
  "/v1/runs": [...OF_ANY_ROUTE, "query", "token", "forbidden"],
  "/healthz": OF_ANY_ROUTE,
  "/readyz": [...OF_ANY_ROUTE, "backlog", "store", "draining"],
  "/metrics": [...OF_ANY_ROUTE, "token", "forbidden"],
  "/openapi.json": OF_ANY_ROUTE,
};

/** The headers that an answer of this status has. */
function headersOf(status: number): string[] {
  if (status === 401) return ["WWW-Authenticate"];
  if (status === 405) return ["Allow"];
  return status === 429 || status === 503 ? ["Retry-After"] : [];
}

describe("the OpenAPI document", () => {
  const text = OPENAPI_TEXT;
  const operations = new Map<string, object>(Object.entries(document.paths));

  it("is served as it is committed in docs/openapi.json", () => {
    const file = readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8");
    expect(file).toBe(text);
    expect(document.info.version).toBe(VERSION);
  });

  it("has every path of the server with its methods, and no other", () => {
    const documented = [...operations].map(([path, methods]) => [path, Object.keys(methods)]);
    const served = Object.entries(ROUTES).map(([path, methods]) => [
      path,
      methods.filter((method) => method !== "HEAD").map((method) => method.toLowerCase()),
    ]);
    expect(documented).toEqual(served);
  });

  it.each(Object.entries(REFUSED))("says of %s each refusal, by its status", (path, codes) => {
    const [operation] = Object.values(operations.get(path) ?? {});
    const answers = Object.entries<{
      readonly description: string;
      readonly headers?: object;
      readonly content: unknown;
    }>(operation.responses).filter(([status]) => status !== "200");
    const expected = new Map<string, RefusalCode[]>();
    for (const code of codes) {
      const status = String(REFUSALS[code].status);
      expected.set(status, [...(expected.get(status) ?? []), code]);
    }
    expect(answers.map(([status]) => status).sort()).toEqual([...expected.keys()].sort());
    for (const [status, { content, description, headers }] of answers) {
      const told = expected.get(status) ?? [];
      const about = told.map((code) => `\`${code}\`: ${REFUSALS[code].about}`).join(" ");
      expect(description).toBe(about);
      expect(Object.keys(headers ?? {})).toEqual(headersOf(Number(status)));
      expect(JSON.stringify(content)).toContain(`"enum":${JSON.stringify(told)}`);
    }
  });

  it("has the parameters that the server reads, with their values", () => {
    const { parameters } = document.paths["/v1/events"].post;
    expect(
      parameters.map(({ in: place, name, schema }) => [place, name, [...schema.enum].sort()]),
    ).toEqual([
      ["query", "dialect", [...DIALECT_NAMES].sort()],
      ["header", "Content-Encoding", ["gzip", "identity"]],
    ]);
  });

  it("has the filters of the open runs, with their bounds", () => {
    const { parameters } = document.paths["/v1/runs"].get;
    const names = parameters.map(({ name }) => name);
    for (const name of names) {
      expect(() => readRunsQuery(new URLSearchParams({ [name]: "" }))).toThrow(
        `expected ${name} to`,
      );
    }
    expect(() => readRunsQuery(new URLSearchParams({ x: "" }))).toThrow(
      `expected no parameter but ${names.join(", ")}`,
    );
    const [limit] = parameters;
    expect(limit?.schema).toMatchObject({ maximum: MOST_RUNS, default: USUAL_RUNS });
    const { kind } = document.components.schemas.OpenRun.properties.waits_for.properties;
    expect(kind.enum).toEqual(WAIT_KINDS);
    expect(document.components.schemas.OpenRuns.properties.runs.maxItems).toBe(MOST_RUNS);
  });

  it("says of every refusal what it means, but for a path that is not there", () => {
    const told = Object.keys(REFUSALS).filter((code) => text.includes(`\`${code}\`: `));
    expect(told).toEqual(Object.keys(REFUSALS).filter((code) => code !== "not_found"));
    expect(document.components.schemas.Error.properties.code.enum).toEqual(Object.keys(REFUSALS));
    expect(text).toContain(`at most ${MOST_REASONS} different reasons`);
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

  it("leads to a table of every metric", () => {
    expect(page).toContain("(metrics.md#the-service-serve)");
    const rows = tableRows(section(readPage("docs/metrics.md"), "The service `serve`"));
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
