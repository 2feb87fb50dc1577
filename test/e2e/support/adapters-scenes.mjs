// What the programs of the adapters share: plays scenes one by one, each with a bridge of its own, and prints what
// spans they made. Plain JavaScript, since it runs under whatever Node a version of a framework needs.
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge } from "entelix-otel";

/** What is asserted of a span beside its name and place. Ids and times differ from run to run. */
const SHOWN = [
  "entelix.run.outcome",
  "entelix.tool.outcome",
  "entelix.step.outcome",
  "entelix.model.outcome",
  "entelix.failure.kind",
  "entelix.tool.error_kind",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "gen_ai.response.finish_reasons",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.tool.call.id",
];

/** Until the signal says stop. */
export const forever = (signal) =>
  new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** Waits for what a framework still does after a call has ended. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

/** @returns a function that resolves once it was called `times` times: what waits on it runs at once. */
export function raceFree(times) {
  let called = 0;
  let release;
  const all = new Promise((resolve) => {
    release = resolve;
  });
  return async () => {
    called += 1;
    if (called === times) release();
    await all;
    return "seen";
  };
}

/**
 * Plays them in order, and prints one JSON object: for each scene its trees as lines, what it threw, what the adapter
 * was in trouble with, and the counts that are not 0.
 *
 * @param shown further attributes that are printed.
 */
export async function play({ scenes, begin, shown = [] }) {
  const only = process.argv[2];
  const printed = {};
  for (const [name, scene] of Object.entries(scenes)) {
    if (only !== undefined && only !== name) continue;
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    const bridge = new Bridge({ tracerProvider: provider });
    const troubles = [];
    const { config, flush, counts } = begin(bridge, (error) => troubles.push(String(error)));
    let thrown = null;
    try {
      await scene(config);
    } catch (error) {
      thrown = String(error);
    }
    await flush();
    const spans = exporter.getFinishedSpans();
    printed[name] = {
      tree: trees(spans, (span) => lineOf(span, [...SHOWN, ...shown])),
      traces: new Set(spans.map((span) => span.spanContext().traceId)).size,
      thrown,
      troubles,
      counts: Object.fromEntries(Object.entries(counts()).filter(([, count]) => count !== 0)),
    };
  }
  // Some versions of a framework keep the process alive for good.
  process.stdout.write(`${JSON.stringify(printed, null, 1)}\n`, () => process.exit());
}

/**
 * A line a span, indented below its parent; children in the order of their start.
 *
 * @param lineOf gives the line; `undefined` for a span that is left out, whose children take its place.
 */
export function trees(spans, lineOf) {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const roots = spans.filter((span) => !ids.has(span.parentSpanContext?.spanId));
  return inOrder(roots).flatMap((root) => below(root, spans, "", lineOf));
}

function below(span, spans, indent, lineOf) {
  const line = lineOf(span);
  const inside = line === undefined ? indent : `${indent}  `;
  const children = spans.filter(
    (other) => other.parentSpanContext?.spanId === span.spanContext().spanId,
  );
  const lines = inOrder(children).flatMap((child) => below(child, spans, inside, lineOf));
  return line === undefined ? lines : [`${indent}${line}`, ...lines];
}

/** Of two starts in one millisecond, of which one is known no better, that of the span that ended first. */
function inOrder(spans) {
  return spans
    .map((span, at) => ({ span, at, from: span.startTime }))
    .sort((a, b) => msOf(a.from) - msOf(b.from) || within(a.from, b.from) || a.at - b.at)
    .map(({ span }) => span);
}

const msOf = ([seconds, nanos]) => seconds * 1000 + Math.floor(nanos / 1e6);

function within([, a], [, b]) {
  return a % 1e6 === 0 || b % 1e6 === 0 ? 0 : a - b;
}

function lineOf({ name, kind, status, attributes, links }, names) {
  const shown = names.flatMap((key) =>
    attributes[key] === undefined
      ? []
      : [`${key.replace(/^(gen_ai|entelix)\./, "")}=${attributes[key]}`],
  );
  const error = status.code === 2 ? ["ERROR"] : [];
  const linked = links.length === 0 ? [] : [`links=${links.length}`];
  return [name, `kind=${kind}`, ...error, ...shown, ...linked].join(" ");
}
