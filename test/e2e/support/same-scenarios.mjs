// What the programs of the comparison share: plays the same scenarios, each with a bridge and a log of its own, prints
// what was reported of each, and replays it. Names, steps and times are left out: they are the framework's own.
import { Writable } from "node:stream";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { MemorySessionLog } from "entelix-otel/audit";
import { entelixDialect, readEvents } from "entelix-otel/replay";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { settled, trees } from "./adapters-scenes.mjs";

/** The reason of a stop: an error of the application's own. */
export const pressedStop = () => new Error("the user pressed stop");

/** Code of a tool whose second call fails, after the first one has ended. */
export function failsTheSecondTime(succeed = async () => "seen") {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls !== 2) return succeed();
    await settled();
    throw new RangeError("out of order");
  };
}

class WatchedLog extends MemorySessionLog {
  rows = [];

  append(key, entries) {
    for (const { event, run_id } of entries) {
      this.rows.push({ run: run_id, row: rowOf(event), event });
    }
    return super.append(key, entries);
  }
}

function rowOf({ kind, by, decision }) {
  return decision === undefined ? kind : `${kind} (${decision}, ${by})`;
}

/** A bridge with its spans and rows. */
function telemetry() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new NodeTracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const log = new WatchedLog();
  const bridge = new Bridge({ tracerProvider, audit: log, captureContent: true });
  return { bridge, spans: () => exporter.getFinishedSpans(), rows: log.rows };
}

/** A process: its adapter, and a recording of what that sends. */
async function processOf(begin, onError) {
  const seen = telemetry();
  const tape = [];
  const stream = new Writable({
    write(line, _, done) {
      tape.push(line);
      done();
    },
  });
  const recorder = new RecorderSink({ stream, source: seen.bridge, content: true });
  const adapter = await begin(new FanOutSink([seen.bridge, recorder]), onError);
  const end = async () => {
    await adapter.flush();
    await seen.bridge.shutdown();
    await recorder.forceFlush();
  };
  return { ...seen, adapter, end, tape };
}

/** What a replay of the recording does not make again. */
async function lostIn({ rows, spans, tape }) {
  const again = telemetry();
  const issues = [];
  await readEvents(tape, {
    dialects: [entelixDialect],
    onEvent: ({ event, envelope }) => again.bridge.send(event, envelope),
    onIssue: (issue) => void issues.push(String(issue)),
  });
  await again.bridge.shutdown();
  // The shutdown of its own bridge ends a run that the framework leaves open.
  const isOwn = ({ attributes }) => attributes["entelix.run.outcome"] === "abandoned";
  const printed = ({ spans, rows }) =>
    [
      ...spans().flatMap((span) => (isOwn(span) ? [] : [spanText(span)])),
      ...rows.map(({ event }) => JSON.stringify(event)),
    ].sort();
  const [live, replayed] = [printed({ rows, spans }), printed(again)];
  const missing = (from, among) => from.filter((text) => !among.includes(text));
  return [...issues, ...missing(live, replayed), ...missing(replayed, live)];
}

function spanText(span) {
  const { attributes, duration, kind, links, name, parentSpanContext, startTime, status } = span;
  const { spanId, traceId } = span.spanContext();
  return JSON.stringify({
    name,
    kind,
    ids: [traceId, spanId, parentSpanContext?.spanId],
    times: [startTime, duration],
    status,
    links: links.map(({ context }) => context.spanId),
    attributes: Object.entries(attributes).sort(),
  });
}

/**
 * Plays them in order and prints one JSON object: for each scenario a line a span, in the order of the tree, runs with
 * their audit rows; what was in trouble; and what a replay of it does not make again.
 *
 * @param begin makes the adapter: `begin(sink, onError)` returns what a scenario gets, with `flush()`. A scenario gets
 *   a function as well that begins once more, with a bridge of its own, as another process does.
 * @param answer input tokens of an answer, and the start of the usual model's name.
 */
export async function playSame({ answer = { tokens: 10, model: "small-1" }, begin, scenarios }) {
  // The timers of `AbortSignal.timeout` keep no process alive.
  setInterval(() => {}, 1000);
  const printed = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    const troubles = [];
    const opened = [];
    const open = async () => {
      const process = await processOf(begin, (error) => troubles.push(String(error)));
      opened.push(process);
      return process.adapter;
    };
    await scenario(await open(), open).catch(() => {});
    for (const { end } of opened) await end();
    const spans = opened.flatMap((process) => process.spans());
    const rows = opened.flatMap((process) => process.rows);
    const lost = [];
    for (const process of opened) lost.push(...(await lostIn(process)));
    printed[name] = { lines: trees(spans, (span) => lineOf(span, rows, answer)), troubles, lost };
  }
  // Some versions of a framework keep the process alive for good.
  process.stdout.write(`${JSON.stringify(printed, null, 1)}\n`, () => process.exit());
}

/** @returns `undefined` of a step: only some frameworks have any. */
function lineOf({ attributes, links, name, parentSpanContext }, rows, answer) {
  const of = (key) => attributes[`entelix.${key}`];
  const told = (...parts) => parts.filter((part) => part !== undefined).join(", ");
  if (of("run.outcome") !== undefined) {
    const [kind, origin] = [of("failure.kind"), of("failure.origin")];
    const tokens = attributes["gen_ai.usage.input_tokens"];
    const user = attributes["user.id"];
    const own = rowsOf(of("run_id"), of("run.segment") ?? 1, rows);
    const line = told(
      `run of ${of("tenant_id")}: ${of("run.outcome")}${kind === undefined ? "" : ` ${kind}`}`,
      kind === undefined ? undefined : `origin ${origin}`,
      kind === undefined || tokens === undefined || parentSpanContext !== undefined
        ? undefined
        : `tokens of ${tokens / answer.tokens} ${tokens === answer.tokens ? "answer" : "answers"}`,
      user === undefined ? undefined : `user ${user}`,
      links.length === 0 ? undefined : "linked to the paused run",
    );
    return `${line} [${own.join(", ")}]`;
  }
  if (of("tool.outcome") !== undefined) {
    const kind = of("tool.error_kind");
    return `tool: ${of("tool.outcome")}${kind === undefined ? "" : ` ${kind}`}`;
  }
  if (of("model.outcome") !== undefined) {
    const model = attributes["gen_ai.response.model"] ?? attributes["gen_ai.request.model"];
    return told(
      `model: ${of("model.outcome")}`,
      reasonOf(attributes["gen_ai.output.messages"]),
      model === undefined || model.startsWith(answer.model) ? undefined : `by ${model}`,
    );
  }
  return name.startsWith("step ") ? undefined : name;
}

/** Why the answer ended, by the conventions' word; `undefined` as usual. */
function reasonOf(messages) {
  const [{ finish_reason } = {}] = JSON.parse(messages ?? "[]");
  return ["length", "content_filter"].find((reason) => reason === finish_reason);
}

/** The rows of a segment of a run: each begins with its start. */
function rowsOf(runId, segment, rows) {
  let current = 0;
  return rows.flatMap(({ row, run }) => {
    if (run !== runId) return [];
    if (row === "entelix.run_started") current += 1;
    return current === segment ? [row] : [];
  });
}
