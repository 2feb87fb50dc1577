import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSources } from "../../../src/view/commands/open-sources.ts";
import { command } from "../../cli/support/any-process.ts";
import { Folder } from "../../cli/support/folder.ts";
import { recording } from "../../cli/support/recorded.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALL, detailsOf, listOf, silentIo, withRuns } from "../support/opened.ts";

const folder = new Folder();
let server: Server;
let url = "";
/** Lines of OTLP/JSON that the server has. */
let stored: string[] = [];
const asked: URL[] = [];
let fail: number | undefined;

interface StoredSpan {
  readonly traceId: string;
  readonly name: string;
}

/** Answers as Jaeger 2.13 does: all traces with a span of that name, in one request. */
function answer(asks: URL): { readonly status: number; readonly body: unknown } {
  if (fail !== undefined)
    return { status: fail, body: { error: { httpCode: fail, message: "out of order" } } };
  const requests = stored.map((line) => JSON.parse(line));
  const spans: StoredSpan[] = requests.flatMap((request) =>
    request.resourceSpans.flatMap((resource: { scopeSpans: { spans: StoredSpan[] }[] }) =>
      resource.scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
  switch (asks.pathname) {
    case "/base/api/v3/services":
      return { status: 200, body: stored.length === 0 ? {} : { services: ["shop"] } };
    case "/base/api/v3/operations": {
      const names = [...new Set(spans.map(({ name }) => name))];
      return { status: 200, body: { operations: names.map((name) => ({ name })) } };
    }
    case "/base/api/v3/traces": {
      const name = asks.searchParams.get("query.operation_name");
      const traces = new Set(
        spans.filter((span) => span.name === name).map(({ traceId }) => traceId),
      );
      const found = spans.filter(({ traceId }) => traces.has(traceId));
      if (found.length === 0)
        return { status: 404, body: { error: { message: "No traces found" } } };
      return {
        status: 200,
        body: { result: { resourceSpans: [{ scopeSpans: [{ spans: found }] }] } },
      };
    }
    default:
      return { status: 404, body: "" };
  }
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const asks = new URL(request.url ?? "/", "http://localhost");
    asked.push(asks);
    const { body, status } = answer(asks);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/base`;
});
beforeEach(() => {
  stored = [];
  fail = undefined;
});
afterAll(() => {
  server.close();
  folder[Symbol.dispose]();
});

async function lines(...names: string[]): Promise<string[]> {
  const out = folder.at(`${names.join("-")}.json`);
  await command(["replay", ...names.map(recording), "--out", out, "--capture-content"]);
  return readFileSync(out, "utf8").trim().split("\n");
}

describe("the runs of a Jaeger", () => {
  it("are those of the spans that it has", async () => {
    stored = await lines("nested_subagent", "approval");
    const fromFile = await withRuns([folder.at("nested_subagent-approval.json")], ALL, detailsOf);
    await withRuns([], { ...ALL, jaeger: `${url}/` }, async (runs) => {
      const found = await detailsOf(runs);
      expect([...found.keys()].sort()).toEqual([...fromFile.keys()].sort());
      for (const [key, detail] of found) {
        const { trace_url, ...rest } = detail;
        expect({ ...rest, revision: 0 }).toEqual({ ...fromFile.get(key), revision: 0 });
        expect(trace_url).toBe(`${url}/trace/${detail.run.trace_id}`);
      }
      expect(listOf(runs).sources).toEqual([
        { name: url, kind: "jaeger", followed: false, read: 1, problem_count: 0, problems: [] },
      ]);
    });
    const searched = asked.filter(({ pathname }) => pathname.endsWith("/traces"));
    const operations = searched.map(({ searchParams }) => searchParams.get("query.operation_name"));
    expect(operations.every((name) => name?.startsWith("invoke_agent"))).toBe(true);
    expect(searched[0]?.searchParams.get("query.num_traces")).toBe("1500");
  });

  it("come as they are stored, and none of their spans twice", async () => {
    const all = await lines("success", "nested_subagent");
    const options = { follow: true, content: true, jaeger: url, pollMs: 5 };
    const runs = await openSources([], options, silentIo());
    try {
      await runs.ready();
      expect(listOf(runs).runs).toEqual([]);
      stored = all;
      await waitFor(() => expect(listOf(runs).runs).toHaveLength(3));
      const { revision } = listOf(runs);
      const before = asked.length;
      await waitFor(() => expect(asked.length).toBeGreaterThan(before + 20));
      expect(listOf(runs, revision).runs).toEqual([]);
      for (const { run, spans } of (await detailsOf(runs)).values()) {
        const own = spans.filter(({ run_id }) => run_id === run.run_id);
        expect(own).toHaveLength(run.spans);
      }
      fail = 503;
      await waitFor(() => expect(listOf(runs).sources[0]?.problem_count).toBe(1));
      expect(listOf(runs).sources[0]?.problems[0]?.problem).toContain("HTTP 503");
      expect(listOf(runs).runs).toHaveLength(3);
      // It is told as long as it is so.
      fail = 500;
      await waitFor(() =>
        expect(listOf(runs).sources[0]?.problems[0]?.problem).toContain("HTTP 500"),
      );
      expect(listOf(runs).sources[0]?.problem_count).toBe(1);
      fail = undefined;
      await waitFor(() => expect(listOf(runs).sources[0]?.problem_count).toBe(0));
    } finally {
      await runs.close();
    }
  });

  it("have their lists, which Jaeger stores as text", async () => {
    stored = (await lines("tool_error")).map((text) =>
      text.replaceAll(
        '{"arrayValue":{"values":[{"stringValue":"flaky"}]}}',
        JSON.stringify({ stringValue: '["flaky"]' }),
      ),
    );
    expect(stored.join("")).toContain('[\\"flaky\\"]');
    await withRuns([], { ...ALL, jaeger: url }, async (runs) => {
      const [detail] = (await detailsOf(runs)).values();
      expect(detail?.run.degraded).toEqual(["flaky"]);
      expect(detail?.spans[0]?.attributes["entelix.run.degraded"]).toEqual(["flaky"]);
    });
  });

  it("are not looked for where nobody answers as Jaeger does", async () => {
    fail = 500;
    await expect(openSources([], { ...ALL, jaeger: url }, silentIo())).rejects.toThrow(
      `--jaeger: ${url}: HTTP 500`,
    );
    fail = undefined;
    const elsewhere = openSources([], { ...ALL, jaeger: `${url}/other` }, silentIo());
    await expect(elsewhere).rejects.toThrow(`--jaeger: ${url}/other: HTTP 404`);
    for (const [address, said] of [
      ["http://127.0.0.1:1", "--jaeger: http://127.0.0.1:1: no answer"],
      ["http://127.0.0.1:1/0123456789abcdef", "--jaeger: http://127.0.0.1:1/hidden: no answer"],
      ["jaeger:16686", "--jaeger: expected an address"],
      ["http://me:secret@127.0.0.1:1", "without a user and a password"],
    ] as const) {
      await expect(openSources([], { ...ALL, jaeger: address }, silentIo())).rejects.toThrow(said);
    }
  });

  it("give place to those of a recording, which knows more", async () => {
    stored = await lines("success");
    const alone = await withRuns([recording("success")], ALL, detailsOf);
    await withRuns([recording("success")], { ...ALL, jaeger: url }, async (runs) => {
      const both = await detailsOf(runs);
      for (const [key, detail] of both) {
        const { trace_url: _, ...rest } = detail;
        expect({ ...rest, revision: 0 }).toEqual({ ...alone.get(key), revision: 0 });
      }
      expect([...both.keys()]).toEqual([...alone.keys()]);
    });
  });
});
