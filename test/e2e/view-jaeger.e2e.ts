import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { now } from "../../src/events/door.ts";
import { command } from "../cli/support/command.ts";
import { readSpans } from "../cli/support/otlp-lines.ts";
import type { RunDetail, RunList, ViewSpan } from "../view/support/view-documents.ts";
import { asViewed, viewedList, viewedRuns, visitor } from "../view/support/view-documents.ts";
import { freshRun, happening } from "./support/events.ts";
import { shiftedTo, shippedRecordings } from "./support/recording.ts";
import { Stack } from "./support/stack.ts";
import { untilHolds } from "./support/until.ts";
import { ViewProcess } from "./support/view-process.ts";
import { cli } from "./support/view-sample.ts";

let stack: Stack;
let folder: string;
/** Every recording, as of this hour: Jaeger is asked for what is new. */
let recorded: string;
let replayed: readonly Omit<ViewSpan, "kind">[];

const inJaeger = () => ["--jaeger", stack.url("jaegerQuery")];

/** Replays a file into Jaeger. @returns its spans. */
async function replay(file: string) {
  const out = `${file}.spans`;
  const to = ["--endpoint", stack.replayEndpoint, "--out", out];
  await cli("replay", file, "--service-name", "agents", ...to);
  return readSpans(out).map(asViewed);
}

beforeAll(async () => {
  stack = await Stack.start({ servers: ["jaeger", "collector"] });
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-jaeger-"));
  recorded = join(folder, "recorded.ndjson");
  const [second] = now();
  const texts = shippedRecordings().flatMap((recording, at) =>
    shiftedTo([second - 3_600 + at * 60, 0], recording).lines.map(({ text }) => `${text}\n`),
  );
  await writeFile(recorded, texts.join(""));
  replayed = await replay(recorded);
  await untilHolds("all is in Jaeger", async () => {
    const { runs } = await viewedList(inJaeger());
    const spans = runs.reduce((sum, run) => sum + run.spans, 0);
    expect(spans).toBe(replayed.length);
  });
});
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

const bySpanId = <T extends { readonly span_id: string }>(spans: readonly T[]) =>
  spans.toSorted((a, b) => (a.span_id < b.span_id ? -1 : 1));

/**
 * What Jaeger makes of a span: one without any length gets one of 1 ns, and says so on it; links keep no attributes of
 * their own.
 */
function asStored(span: Omit<ViewSpan, "kind">): unknown {
  const { attributes, end_ns, links, start_ns } = span;
  const changed = {
    end_ns: String(BigInt(start_ns) + 1n),
    attributes: {
      ...attributes,
      "@jaeger@warnings": [expect.stringContaining("Negative duration")],
    },
  };
  return {
    ...span,
    ...(start_ns === end_ns ? changed : {}),
    links: links.map((link) => ({
      ...link,
      attributes: { "opentracing.ref_type": "follows_from" },
    })),
  };
}

/** The spans of all runs, each once. */
const spansOf = (details: ReadonlyMap<string, RunDetail>) =>
  new Map([...details.values()].flatMap(({ spans }) => spans.map((span) => [span.span_id, span])));

describe("view --jaeger", () => {
  it("has the runs and spans that were replayed into it", async () => {
    const [stored, wanted] = [
      await viewedRuns(inJaeger()),
      await viewedRuns([`${recorded}.spans`]),
    ];
    const spans = bySpanId([...spansOf(stored).values()]);
    expect(spans.map(({ kind: _, ...span }) => span)).toEqual(bySpanId(replayed).map(asStored));
    expect([...stored.keys()].toSorted()).toEqual([...wanted.keys()].toSorted());
    for (const [key, { related, run, rows_from, spans: found, trace_url }] of stored) {
      const other = wanted.get(key);
      expect([run, related, rows_from]).toEqual([other?.run, other?.related, "none"]);
      expect(found).toEqual(other?.spans.map(asStored));
      expect(trace_url).toBe(`${stack.url("jaegerQuery")}/trace/${run.trace_id}`);
    }
  });

  it("leads from a run of a recording to its trace", async () => {
    const details = await viewedRuns([recorded, ...inJaeger()]);
    expect(details.size).toBe(12);
    for (const { rows_from, run, trace_url } of details.values()) {
      expect(rows_from).toBe("replay");
      expect((await fetch(trace_url ?? "")).status).toBe(200);
      const found = await stack.jaeger.trace(run.trace_id);
      expect(found.length).toBeGreaterThan(0);
    }
  });
});

describe("a Jaeger that is followed", () => {
  it("gives what comes into it, and goes away and comes back while it is viewed", async () => {
    const view = await ViewProcess.start(inJaeger());
    const get = await visitor(view.url);
    const list = () => get<RunList>("/runs");
    await untilHolds("what is there", async () => expect((await list()).runs).toHaveLength(12));
    const run = freshRun();
    const file = join(folder, "later.ndjson");
    const lines = [run.started(), run.toolStart("tu-1"), run.toolComplete("tu-1"), run.complete()];
    await writeFile(file, lines.map((event) => `${happening(event)}\n`).join(""));
    const later = await replay(file);
    await untilHolds("the new run", async () => {
      const { spans } = await get<RunDetail>(`/run?key=${run.run_id}`);
      expect(bySpanId(spans).map(({ kind: _, ...span }) => span)).toEqual(bySpanId(later));
    });
    await stack.server("jaeger").stop();
    await untilHolds("that it is away", async () => {
      const { runs, sources } = await list();
      const problem = expect.stringMatching(/^no answer: .*ECONNREFUSED/);
      const place = stack.url("jaegerQuery");
      expect(sources).toMatchObject([{ problem_count: 1, problems: [{ place, problem }] }]);
      expect(runs).toHaveLength(13);
    });
    const { spans } = await get<RunDetail>(`/run?key=${run.run_id}`);
    expect(spans).toHaveLength(2);
    await stack.server("jaeger").start();
    await untilHolds("that it is back", async () => {
      expect((await list()).sources).toMatchObject([{ problem_count: 0, problems: [] }]);
    });
    expect((await list()).runs).toHaveLength(13);
    expect(await view.stop()).toBe(0);
  });

  it("must answer at the start: else no page is served", async () => {
    const nobody = await command(["view", "--jaeger", "http://127.0.0.1:1"]);
    expect([nobody.code, nobody.stdout]).toEqual([1, ""]);
    expect(nobody.stderr).toContain("--jaeger: http://127.0.0.1:1: no answer: ");
    // Another server: the collector, which has no such address.
    const other = await command(["view", recorded, "--jaeger", stack.endpoint]);
    expect([other.code, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toContain(`--jaeger: ${stack.endpoint}: `);
  });
});
