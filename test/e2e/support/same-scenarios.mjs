// What the programs of the comparison share: plays the same scenarios, each with a bridge and a log of its own, and
// prints what was reported of each. Names, steps and times are left out: they are the framework's own.
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge } from "entelix-otel";
import { MemorySessionLog } from "entelix-otel/audit";
import { trees } from "./adapters-scenes.mjs";

class WatchedLog extends MemorySessionLog {
  rows = [];

  append(key, entries) {
    for (const { event, run_id } of entries) this.rows.push({ run: run_id, row: rowOf(event) });
    return super.append(key, entries);
  }
}

function rowOf({ kind, by, decision }) {
  return decision === undefined ? kind : `${kind} (${decision}, ${by})`;
}

/**
 * Plays them in order and prints one JSON object: for each scenario a line a span, in the order of the tree, runs with
 * their audit rows; and what was in trouble.
 *
 * @param begin makes the adapter: `begin(sink, onError)` returns what a scenario gets, with `flush()`. A scenario gets
 *   a function as well that begins once more, with a bridge of its own, as another process does.
 */
export async function playSame({ begin, scenarios }) {
  // The timers of `AbortSignal.timeout` keep no process alive.
  setInterval(() => {}, 1000);
  const printed = {};
  for (const [name, scenario] of Object.entries(scenarios)) {
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    const log = new WatchedLog();
    const troubles = [];
    const opened = [];
    const open = async () => {
      const bridge = new Bridge({ tracerProvider: provider, audit: log });
      const adapter = await begin(bridge, (error) => troubles.push(String(error)));
      opened.push({ adapter, bridge });
      return adapter;
    };
    await scenario(await open(), open).catch(() => {});
    for (const { adapter, bridge } of opened) {
      await adapter.flush();
      await bridge.shutdown();
    }
    printed[name] = {
      lines: trees(exporter.getFinishedSpans(), (span) => lineOf(span, log.rows)),
      troubles,
    };
  }
  // Some versions of a framework keep the process alive for good.
  process.stdout.write(`${JSON.stringify(printed, null, 1)}\n`, () => process.exit());
}

/** @returns `undefined` of a step: only some frameworks have any. */
function lineOf({ attributes, links, name }, rows) {
  const of = (key) => attributes[`entelix.${key}`];
  if (of("run.outcome") !== undefined) {
    const [kind, origin] = [of("failure.kind"), of("failure.origin")];
    const why = kind === undefined ? "" : ` ${kind}, origin ${origin}`;
    const linked = links.length === 0 ? "" : ", linked to the paused run";
    const own = rowsOf(of("run_id"), of("run.segment") ?? 1, rows);
    return `run of ${of("tenant_id")}: ${of("run.outcome")}${why}${linked} [${own.join(", ")}]`;
  }
  if (of("tool.outcome") !== undefined) {
    const kind = of("tool.error_kind");
    return `tool: ${of("tool.outcome")}${kind === undefined ? "" : ` ${kind}`}`;
  }
  if (of("model.outcome") !== undefined) return `model: ${of("model.outcome")}`;
  return name.startsWith("step ") ? undefined : name;
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
