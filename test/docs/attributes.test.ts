import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { beforeAll, describe, expect, it } from "vitest";
import { knownEventForm } from "../../src/audit/door.ts";
import { entelixDialect, readEvents } from "../../src/entries/replay.ts";
import { APPROVAL_EVENT, ATTRIBUTES, MARKER_SPAN } from "../../src/events/door.ts";
import { Bridge } from "../../src/index.ts";
import { METRIC_NAMES } from "../bridge/support/metric-table.ts";
import { collectSpans } from "../support/spans.ts";
import { waitUntil } from "../support/wait-for.ts";
import { PAGES, ROOT, readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/attributes.md");

describe("docs/attributes.md", () => {
  it("is what the table in the code gives: npm run docs", () => {
    const script = join(ROOT, "scripts/generate-docs.mjs");
    const printed = execFileSync(process.execPath, [script, "--print"], { encoding: "utf8" });
    expect(page).toBe(printed);
  });

  it("has each attribute with its type and meaning in the section of each of its places", () => {
    const titles: Readonly<Record<string, string>> = {
      run: "Run spans",
      call: "Tool call spans",
      model: "Model call spans",
      step: "Step spans",
      marker: "Marker spans",
      event: "Span events",
      log: "Log records",
      link: "Links",
    };
    const expected = Object.entries(ATTRIBUTES).flatMap(([name, { brief, content, on, type }]) =>
      on
        .split(", ")
        .map((place) => [titles[place], name, type, content ? `${brief} **Content.**` : brief])
        .map((row) => row.map((cell) => cell?.replaceAll("`", ""))),
    );
    const found = Object.values(titles).flatMap((title) =>
      tableRows(section(page, title)).map((row) => [title, ...row]),
    );
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it("has every attribute that another page names", () => {
    const unknown = PAGES.filter((path) => path !== "docs/attributes.md").flatMap((path) =>
      [...readPage(path).matchAll(/`((?:entelix|gen_ai)\.[\w.]*\w)( =|`)/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !Object.hasOwn(ATTRIBUTES, name) && !METRIC_NAMES.has(name))
        .filter((name) => !NOT_OURS.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

/** The first cell of each row. */
const firstCells = (heading: string) =>
  tableRows(section(page, heading)).map(([name = ""]) => name);

/** Names that pages speak of and that are no attributes of this package. */
const NOT_OURS = new Set<string>([
  MARKER_SPAN,
  APPROVAL_EVENT,
  ...firstCells("Names of span events"),
  ...firstCells("Names of log records"),
  ...knownEventForm.variants.keys(),
  // Names of the conventions that are not emitted, and why.
  ...tableRows(section(readPage("docs/deviations.md"), "Names of the conventions")).map(
    ([name = ""]) => name,
  ),
  "gen_ai.agent.id",
  "gen_ai.usage.total_tokens",
  "entelix.agent.run",
  "entelix.thread_id",
]);

describe("the spans of the recordings", () => {
  let spans: readonly ReadableSpan[];

  beforeAll(async () => {
    const live = collectSpans();
    const sink = new Bridge({
      tracerProvider: live.provider,
      mode: "replay",
      captureContent: true,
    });
    for (const name of [
      "success",
      "tool_error_terminal",
      "nested_subagent",
      "approval",
      "pause",
      "resume",
    ]) {
      await readEvents(join(ROOT, `recordings/${name}.ndjson`), {
        dialects: [entelixDialect],
        onEvent: ({ envelope, event }) => sink.send(event, envelope),
      });
    }
    await sink.shutdown();
    spans = [...live.spans(), await markerSpan()];
  });

  it("have no attribute that its section does not name", () => {
    const found = new Set<string>();
    for (const { attributes, events, links, name } of spans) {
      for (const attribute of Object.keys(attributes)) found.add(`${placeOf(name)}|${attribute}`);
      for (const event of events) {
        for (const attribute of Object.keys(event.attributes ?? {}))
          found.add(`Span events|${attribute}`);
      }
      for (const link of links) {
        for (const attribute of Object.keys(link.attributes ?? {})) found.add(`Links|${attribute}`);
      }
    }
    const places = new Set([...found].map((each) => each.split("|")[0]));
    expect([...places].toSorted()).toEqual([
      "Links",
      "Marker spans",
      "Run spans",
      "Span events",
      "Tool call spans",
    ]);
    const undocumented = [...found].filter((each) => {
      const [place = "", attribute = ""] = each.split("|");
      return !section(page, place).includes(`\`${attribute}\``);
    });
    expect(undocumented).toEqual([]);
  });
});

function placeOf(name: string): string {
  if (name === MARKER_SPAN) return "Marker spans";
  return name.startsWith("execute_tool ") ? "Tool call spans" : "Run spans";
}

/** What a live run that is open for long leaves. */
async function markerSpan(): Promise<ReadableSpan> {
  const { provider, spans } = collectSpans();
  const sink = new Bridge({ tracerProvider: provider, limits: { markerAfterMs: 1 } });
  const run = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
  void sink.send({ type: "started", ...run, agent: "slow" });
  const marker = await waitUntil(() => spans().find(({ name }) => name === MARKER_SPAN));
  await sink.shutdown();
  return marker;
}
