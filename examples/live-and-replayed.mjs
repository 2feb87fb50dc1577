// Runs a program with a bridge, an audit log and a recorder, replays the recording into a second bridge and
// a second log, and returns spans and rows of both.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { NdjsonSessionLog, readRows, verifyLog } from "entelix-otel/audit";
import { entelixDialect, formatIssue, readEvents } from "entelix-otel/replay";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";

/** @param program gets the sink, and resolves when it has sent all its events. */
export async function liveAndReplayed(program, options = {}) {
  const folder = await mkdtemp(join(tmpdir(), "entelix-otel-"));
  try {
    const path = join(folder, "events.ndjson");
    const live = await observed(join(folder, "live"), options, async (bridge) => {
      // Behind the bridge, so that it can ask it for what the events themselves do not say.
      const recorder = new RecorderSink({ path, source: bridge });
      await program(new FanOutSink([bridge, recorder]));
      await recorder.shutdown();
    });
    const replayed = await observed(
      join(folder, "again"),
      { ...options, mode: "replay" },
      (bridge) =>
        readEvents(path, {
          dialects: [entelixDialect],
          onEvent: ({ event, envelope }) => bridge.send(event, envelope),
          onIssue: (issue) => console.error(formatIssue(issue)),
        }),
    );
    const { ok } = await verifyLog(join(folder, "live"));
    return { ...live, isVerified: ok, isIdentical: textOf(live) === textOf(replayed) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Spans and rows of what a program does with a bridge. */
async function observed(folder, options, program) {
  const memory = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const audit = await NdjsonSessionLog.open(folder);
  const bridge = new Bridge({ captureContent: true, ...options, tracerProvider: provider, audit });
  await program(bridge);
  await bridge.shutdown();
  await audit.close();
  const rows = [];
  for await (const row of readRows(folder)) rows.push(row);
  const spans = memory.getFinishedSpans();
  await provider.shutdown();
  return { spans, rows };
}

function textOf({ spans, rows }) {
  const facts = spans.map((span) => {
    const { attributes, endTime, events, links, name, parentSpanContext, startTime, status } = span;
    const { spanId, traceId } = span.spanContext();
    const ids = { traceId, spanId, parent: parentSpanContext?.spanId, links };
    return JSON.stringify({ ...ids, name, startTime, endTime, attributes, events, status });
  });
  const written = rows.map(({ event_text, hash, span_id }) => `${hash} ${span_id} ${event_text}`);
  return [...facts.sort(), ...written].join("\n");
}
