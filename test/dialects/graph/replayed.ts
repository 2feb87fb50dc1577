import { isJsonObject, type LineEnvelope } from "../../../src/dialects/dialect.ts";
import { graphDialect } from "../../../src/dialects/graph/graph-dialect.ts";
import type { GraphLine } from "../../../src/dialects/graph/graph-line.ts";
import { GraphMapping } from "../../../src/dialects/graph/graph-mapping.ts";
import type { Translated } from "../../../src/dialects/mapping.ts";
import { parseExact } from "../../../src/events/exact-json.ts";
import { readEvents } from "../../../src/ingest/read-events.ts";
import { Bridge } from "../../../src/otel/bridge.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";

/** A decoded line, ready for the mapping. */
export interface Taken {
  readonly event: GraphLine;
  readonly envelope: LineEnvelope;
}

/** Decodes lines that are all events. */
export function decoded(lines: readonly string[]): Taken[] {
  return lines.flatMap((text) => {
    const value = parseExact(text);
    if (!isJsonObject(value)) throw new TypeError(`no object: ${text}`);
    const result = graphDialect.decode(value);
    if (result.outcome === "skipped") return [];
    if (result.outcome !== "event") throw new TypeError(`${result.outcome}: ${text}`);
    return [{ event: result.event, envelope: result.envelope }];
  });
}

/** What the mapping makes of lines, in their order. */
export function translated(lines: readonly string[]): Translated[] {
  const mapping = new GraphMapping("default");
  const all = decoded(lines).map(({ envelope, event }) => mapping.translate(event, envelope));
  return [...all, ...mapping.end()];
}

/** Replays lines as the command does, up to the spans. */
export async function replayed(lines: readonly string[]) {
  const spans = collectSpans();
  const reports: string[] = [];
  const bridge = new Bridge({
    mode: "replay",
    tracerProvider: spans.provider,
    captureContent: false,
    onError: (error, place) => void reports.push(`${place}: ${String(error)}`),
  });
  const feed = bridge.feed(new GraphMapping("default"), "default");
  const report = await readEvents(source(lines), {
    dialects: [graphDialect],
    onEvent: ({ event, envelope }) => feed.take(event, envelope),
  });
  await feed.end();
  await bridge.shutdown();
  const { ended, started } = spans;
  return {
    trees: toTrees(spans.spans()),
    spans: spans.spans(),
    started,
    ended,
    reports,
    report,
    diagnostics: bridge.diagnostics(),
  };
}

async function* source(lines: readonly string[]): AsyncGenerator<string> {
  yield lines.map((line) => `${line}\n`).join("");
}
