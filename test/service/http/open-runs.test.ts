import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { WAIT_KINDS, type WaitKind } from "../../../src/bridge/door.ts";
import type { OpenRun } from "../../../src/index.ts";
import {
  MOST_RUNS,
  OpenRunsList,
  readRunsQuery,
  runsAnswer,
} from "../../../src/service/http/open-runs.ts";
import { OPEN_RUNS } from "../../../src/service/http/open-runs-form.ts";
import { Access } from "../../../src/service/http/tokens/access.ts";
import { runs as times } from "../../support/runs.ts";
import { codeOf, conforming } from "./support/conforming.ts";
import { Door, tokenSet } from "./support/door.ts";
import { RawConnection } from "./support/raw-connection.ts";

const PATH = "/v1/runs";
const AT = Date.UTC(2026, 3, 29, 12);

function openRun(runId: string, more: Partial<OpenRun> = {}): OpenRun {
  return {
    tenantId: "acme",
    runId,
    rootRunId: runId,
    traceId: "018f3c7a000070008000000000000002",
    spanId: "8000000000000002",
    sampled: true,
    startedAt: "2026-04-29T11:00:00Z",
    ageMs: 3_600_000,
    idleMs: 60_000.4,
    waitsFor: { kind: "nothing", sinceMs: 60_000.4 },
    tokens: {},
    ...more,
  };
}

/** The answer's object, read from its pieces. */
function answerTo(query: string, runs: readonly OpenRun[]) {
  const asked = readRunsQuery(new URLSearchParams(query));
  const { body } = runsAnswer({ atMs: AT, runs }, asked);
  const value: unknown = JSON.parse([...body()].join(""));
  if (!OPEN_RUNS.fits(value)) throw new Error("expected an answer of its own form");
  expect([...body()].join("")).toBe([...body()].join(""));
  return value;
}

const ids = (query: string, runs: readonly OpenRun[]) =>
  answerTo(query, runs).runs.map(({ run_id }) => run_id);

describe("the answer", () => {
  it("has what names a run and how it goes", () => {
    const full = openRun("r1", {
      parentRunId: "r0",
      rootRunId: "r0",
      agent: "planner",
      threadId: "t1",
      waitsFor: { kind: "tool", name: "lookup", sinceMs: 5.6 },
      tokens: { input: 120, output: 30 },
      cost: "0.01",
    });
    expect(answerTo("", [full, openRun("r2")])).toEqual({
      at: "2026-04-29T12:00:00.000Z",
      left_out: 0,
      runs: [
        {
          tenant_id: "acme",
          run_id: "r1",
          parent_run_id: "r0",
          root_run_id: "r0",
          trace_id: "018f3c7a000070008000000000000002",
          span_id: "8000000000000002",
          sampled: true,
          agent: "planner",
          thread_id: "t1",
          started_at: "2026-04-29T11:00:00Z",
          age_ms: 3_600_000,
          idle_ms: 60_000,
          waits_for: { kind: "tool", name: "lookup", since_ms: 6 },
          input_tokens: 120,
          output_tokens: 30,
          cost_usd: "0.01",
        },
        {
          tenant_id: "acme",
          run_id: "r2",
          root_run_id: "r2",
          trace_id: "018f3c7a000070008000000000000002",
          span_id: "8000000000000002",
          sampled: true,
          started_at: "2026-04-29T11:00:00Z",
          age_ms: 3_600_000,
          idle_ms: 60_000,
          waits_for: { kind: "nothing", since_ms: 60_000 },
        },
      ],
    });
  });

  it("is bounded, and says how many it left out", () => {
    const many = Array.from({ length: 1_200 }, (_, n) => openRun(`r${n}`));
    const shown = (query: string) => {
      const { left_out, runs } = answerTo(query, many);
      return [runs.length, left_out, runs[0]?.run_id];
    };
    expect(shown("")).toEqual([100, 1_100, "r0"]);
    expect(shown("limit=1")).toEqual([1, 1_199, "r0"]);
    expect(shown("limit=1000")).toEqual([MOST_RUNS, 200, "r0"]);
    expect(answerTo("", [])).toMatchObject({ left_out: 0, runs: [] });
  });

  it("is filtered before it is bounded", () => {
    const waits = WAIT_KINDS.map((kind: WaitKind, n) =>
      openRun(kind, { agent: `a${n % 2}`, idleMs: n * 1_000, waitsFor: { kind, sinceMs: 0 } }),
    );
    expect(ids("waits_for=model", waits)).toEqual(["model"]);
    const two = [openRun("r1"), openRun("r2", { tenantId: "beta" })];
    expect(ids("tenant=beta", two)).toEqual(["r2"]);
    expect(ids("agent=a1", waits)).toEqual(["tool", "child", "unknown"]);
    expect(ids("agent=none", waits)).toEqual([]);
    expect(ids("idle_over=3", waits)).toEqual(["nothing", "unknown"]);
    expect(ids("idle_over=0", waits)).toHaveLength(WAIT_KINDS.length - 1);
    expect(answerTo("agent=a1&idle_over=2&limit=1", waits)).toMatchObject({
      left_out: 1,
      runs: [{ run_id: "child" }],
    });
  });

  it("holds whatever names senders choose", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (runId, agent) => {
        const [run] = answerTo("", [openRun(runId, { agent })]).runs;
        expect([run?.run_id, run?.agent]).toEqual([runId, agent]);
      }),
      { numRuns: times(200) },
    );
  });
});

describe("the list", () => {
  it("is made at most once a second, however often it is asked for", () => {
    vi.useFakeTimers({ now: AT, toFake: ["setTimeout", "Date"] });
    try {
      const made: number[] = [];
      const list = new OpenRunsList((atMs) => {
        made.push(atMs);
        return [];
      });
      for (let n = 0; n < 25; n++) {
        list.now();
        vi.advanceTimersByTime(100);
      }
      expect(made).toEqual([AT, AT + 1_000, AT + 2_000]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the query", () => {
  it.each([
    ["limit=0", "expected limit to be a whole number from 1 to 1000"],
    ["limit=1001", "expected limit to be a whole number from 1 to 1000"],
    ["limit=1e3", "expected limit to be a whole number from 1 to 1000"],
    ["idle_over=-1", "expected idle_over to be a whole number from 0 to 1000000000"],
    ["idle_over=1.5", "expected idle_over to be a whole number"],
    ["waits_for=tools", "expected waits_for to be one of approval, tool, model, child"],
    ["tenant=", "expected tenant to have 1 to 4096 characters"],
    [`agent=${"a".repeat(4_097)}`, "expected agent to have 1 to 4096 characters"],
    ["agent=a&agent=b", "expected one agent"],
    ["waitsfor=tool", "expected no parameter but limit, tenant, agent, waits_for, idle_over"],
  ])("%s is refused", (query, message) => {
    expect(() => readRunsQuery(new URLSearchParams(query))).toThrow(message);
  });
});

const TOKENS = [
  { token: "a", tenant: "acme" },
  { token: "b", tenant: "beta", metrics: true },
  { token: "m", metrics: true },
  { token: "o", runs: true },
  { token: "ao", tenant: "acme", runs: true },
];

describe("GET /v1/runs", () => {
  const runs = [
    openRun("b1", { tenantId: "beta" }),
    openRun("a1"),
    openRun("<script>\u0000\u202e", { tenantId: "beta" }),
  ];

  async function ask(door: Door, query: string, token?: string) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${door.url}${PATH}${query}`, { headers });
    const body = await conforming(response, PATH, "get");
    const value: unknown = body;
    const found = OPEN_RUNS.fits(value) ? value.runs.map(({ run_id }) => run_id) : codeOf(body);
    return [response.status, found];
  }

  it("shows a tenant's token its own runs, and all to one that may see them", async () => {
    await using door = await Door.open({ tokens: TOKENS, loopback: true });
    door.runs = runs;
    expect(await ask(door, "", "a")).toEqual([200, ["a1"]]);
    expect(await ask(door, "?tenant=acme", "a")).toEqual([200, ["a1"]]);
    expect(await ask(door, "?tenant=beta", "a")).toEqual([403, "forbidden"]);
    expect(await ask(door, "", "b")).toEqual([200, ["b1", "<script>\u0000\u202e"]]);
    for (const token of ["o", "ao"]) {
      expect(await ask(door, "", token)).toEqual([200, ["b1", "a1", "<script>\u0000\u202e"]]);
      expect(await ask(door, "?tenant=acme", token)).toEqual([200, ["a1"]]);
    }
    expect(await ask(door, "", "m")).toEqual([403, "forbidden"]);
    expect(await ask(door, "", "unknown")).toEqual([401, "token"]);
    // Also where metrics need no token.
    expect(await ask(door, "")).toEqual([401, "token"]);
    expect(await ask(door, "?limit=x", "a")).toEqual([400, "query"]);
  });

  it("shows a token that may only see runs nothing else", async () => {
    await using door = await Door.open({ tokens: TOKENS });
    const headers = { authorization: "Bearer o" };
    expect((await door.post("{}", { headers })).status).toBe(403);
    expect((await fetch(`${door.url}/metrics`, { headers })).status).toBe(403);
  });

  it("needs no token where there are none, and a Host that names this machine", async () => {
    await using door = await Door.open();
    door.runs = runs;
    expect(await ask(door, "?tenant=acme")).toEqual([200, ["a1"]]);
    const head = await fetch(`${door.url}${PATH}`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    using raw = new RawConnection(door.port).send(
      `GET ${PATH} HTTP/1.1`,
      "host: rebound.example",
      "connection: close",
      "",
      "",
    );
    const answer = await raw.end();
    expect(answer.slice(9, 12)).toBe("421");
    expect(answer).not.toContain("a1");
  });

  it("without tokens is for connections from this machine alone", () => {
    const open = new Access(undefined, undefined, true);
    for (const from of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
      expect(open.runs(undefined, from)).toBeUndefined();
    }
    for (const from of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "", undefined]) {
      expect(() => open.runs("Bearer a", from)).toThrow("expected a connection from this machine");
    }
    const closed = new Access(tokenSet(TOKENS), undefined, true);
    expect(closed.runs("Bearer a", "10.0.0.1")).toBe("acme");
  });
});
