import { type Dialect, formatIssue, readEvents } from "../../src/entries/replay.ts";
import { Bridge, type SessionLog } from "../../src/index.ts";
import { type Mapping, playerOf } from "../../src/replay/door.ts";
import { collectSpans, toTrees } from "./spans.ts";

/**
 * Replays lines of another runtime as the command does, up to the spans.
 *
 * @param audit where the audit rows go, if anywhere.
 * @returns the spans, how often each began and ended, and what was reported: nothing, if all is well.
 */
export async function replayDialect<E>(
  dialect: Dialect<E>,
  mapping: Mapping<E>,
  lines: readonly string[],
  audit?: SessionLog,
) {
  const { ended, provider, spans, started } = collectSpans();
  const reports: string[] = [];
  const bridge = new Bridge({
    mode: "replay",
    tracerProvider: provider,
    captureContent: false,
    ...(audit === undefined ? {} : { audit }),
    onError: (error, place) => void reports.push(`${place}: ${String(error)}`),
  });
  const feed = playerOf(bridge, mapping, "default");
  const report = await readEvents(source(lines), {
    dialects: [dialect],
    onEvent: ({ event, envelope }) => feed.take(event, envelope),
    onIssue: (issue) => void reports.push(formatIssue(issue)),
  });
  await feed.end();
  await bridge.shutdown();
  return {
    trees: toTrees(spans()),
    spans: spans(),
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
