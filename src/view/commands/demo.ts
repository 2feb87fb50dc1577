import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { verifyLog } from "../../audit/door.ts";
import {
  type Command,
  closeAuditLog,
  DEFAULT_JAEGER,
  failureTable,
  httpUrl,
  Interruption,
  type Output,
  openAuditLog,
  RunTally,
  safe,
  TraceSample,
  traceText,
} from "../../cli/door.ts";
import { addMilliseconds, FanOutSink, now, RecorderSink } from "../../events/door.ts";
import type { RunList } from "../format.ts";
import { type Delivery, demoTelemetry, destinationOf } from "./demo/demo-telemetry.ts";
import { BUNDLED_RECORDINGS, RecordingPlayer, SUPPORT_AGENT } from "./demo/recordings.ts";
import { addressLines, asWord, auditLines, pageLines, sentLines } from "./demo/report-lines.ts";
import {
  changedByPerson,
  costLines,
  decisionLines,
  runTitle,
  withoutSteps,
} from "./demo/summary.ts";
import { allRead, withRuns } from "./opened-runs.ts";
import { readPageFiles } from "./page-files.ts";
import { serveView } from "./serve-view.ts";

const OPTIONS = {
  endpoint: {
    type: "string",
    value: "URL",
    about:
      "Send spans and metrics to this URL (OTLP/HTTP). Default: OTEL_EXPORTER_OTLP_ENDPOINT, else nowhere.",
  },
  audit: {
    type: "string",
    value: "DIR",
    about: "Directory of the audit log. Default: a new temporary directory.",
  },
  jaeger: {
    type: "string",
    value: "URL",
    about: `URL of Jaeger's UI. Default: ${DEFAULT_JAEGER}`,
  },
  view: { type: "boolean", about: "Open the runs in the browser at the end, as view does." },
} as const;

/** Plays recorded runs, so that you see traces and an audit log without an agent. */
export const demo: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "It plays short runs that were recorded from real agents, one of them constructed, and the conversations of a support agent with three tenants, recorded from a program of the repository (examples/support). Run IDs are new each time. The runs are of the last ten minutes, those of the support agent are the newest, and the short ones take longer than recorded.",
    "To see them in the browser: entelix-otel demo --view. It ends with SIGINT or SIGTERM. Without --view, the last line of the output opens the same page.",
    "To see them in Jaeger: entelix-otel demo --endpoint http://127.0.0.1:4318. With the repository's docker-compose.yml, failures are also in Prometheus and Grafana and raise alerts.",
    "Spans have content: messages, inputs and outputs. The people in them are made up.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { out } = io;
    const destination = await destinationOf(values.endpoint, io.env);
    const jaeger = httpUrl("--jaeger", values.jaeger ?? DEFAULT_JAEGER, DEFAULT_JAEGER).href;
    const given = values.audit === undefined ? undefined : await openAuditLog(values.audit, []);
    const folder = await mkdtemp(join(tmpdir(), "entelix-otel-demo-"));
    const directory = values.audit ?? join(folder, "audit");
    const log = given ?? (await openAuditLog(directory, []));
    const tally = new RunTally();
    const troubles: string[] = [];
    const sample = new TraceSample();
    const { bridge, close } = demoTelemetry({
      destination,
      audit: log,
      observe: (span) => {
        tally.add(span);
        sample.add(span);
      },
      onTrouble: (trouble) => troubles.push(trouble),
    });
    // An audit log has no model calls and no messages: the page reads them from this recording.
    const events = join(folder, "events.ndjson");
    const recorder = new RecorderSink({ path: events, source: bridge });
    const interruption = new Interruption();
    let titles: ReadonlyMap<string, string>;
    let delivery: Delivery;
    let closed = true;
    try {
      const sink = new FanOutSink([bridge, recorder]);
      titles = await play(new RecordingPlayer(sink), sample, interruption.signal, out);
      delivery = await close();
    } finally {
      interruption.release();
      await recorder.shutdown();
      closed = await closeAuditLog(log, (text) => io.err.line(safe(text)));
    }
    if (interruption.exitCode !== undefined) {
      io.err.line("Interrupted.");
      return interruption.exitCode;
    }
    const report = await verifyLog(directory);
    const complete = delivery.undelivered + troubles.length === 0;
    const places = [directory, events];
    return withRuns(places, { follow: false, content: true }, io, async (viewed, signal) => {
      if (!(await allRead(viewed, signal))) return undefined;
      const list: RunList = JSON.parse([...viewed.listJson()].join(""));
      const spans = new Map(sample.traces.map((trace) => [trace[0]?.traceId, trace]));
      // A log that was there before has more runs.
      const runs = list.runs.filter(({ trace_id }) => spans.has(trace_id));
      const changed = changedByPerson(runs).flatMap(({ trace_id }) =>
        traceText(withoutSteps(spans.get(trace_id) ?? []), out),
      );
      printSection("A refund that a person changed, without the steps of the graph", changed, out);
      printSection("Failed runs by tenant", failureTable(tally), out);
      printSection("Decisions", decisionLines(runs, Date.now()), out);
      printSection("Cost by tenant", costLines(runs), out);
      printSection("Audit log", auditLines(directory, report, given !== undefined, out), out);
      const named = sample.traces.map(([first]) => {
        const { traceId = "" } = first ?? {};
        const run = runs.find((one) => one.trace_id === traceId && one.parent_run_id === undefined);
        const title = titles.get(traceId) ?? (run === undefined ? traceId : runTitle(run));
        return { title, traceId };
      });
      printSection(
        "Traces",
        [
          ...sentLines(tally, destination, delivery, troubles, out),
          ...(delivery.delivered > 0 ? addressLines(named, jaeger, out) : []),
          ...(complete ? pageLines(destination, values.jaeger, out) : []),
        ],
        out,
      );
      if (values.view === true) {
        out.line();
        const page = await readPageFiles();
        await serveView(viewed, { page, port: 0, open: true, signal }, io);
      } else {
        const command = `  npx entelix-otel view --open ${places.map(asWord).join(" ")}`;
        printSection("To see these runs in the browser", [command], out);
      }
      return report.ok && closed && complete ? 0 : 1;
    });
  },
};

/** The short recordings begin so long ago, one after the other. Those of the support agent come after them. */
const BEGIN_MS = 10 * 60_000;
const APART_MS = 25_000;

/**
 * Plays the recordings, until the signal. The newest runs, which a list has first, are those of the support agent.
 *
 * @returns the title of each trace that is not one of the support agent.
 */
async function play(
  player: RecordingPlayer,
  sample: TraceSample,
  signal: AbortSignal,
  out: Output,
): Promise<ReadonlyMap<string, string>> {
  const constructed = BUNDLED_RECORDINGS.filter((recording) => recording.constructed).length;
  const real = BUNDLED_RECORDINGS.length - constructed;
  const heading = `Playing the conversations of a support agent, ${real} recordings of real agents, and ${constructed} that is constructed.`;
  out.line(out.style("bold", heading));
  const titles = new Map<string, string>();
  const end = now();
  for (const [at, { file, title }] of BUNDLED_RECORDINGS.entries()) {
    if (signal.aborted) return titles;
    const before = sample.traces.length;
    await player.playFrom(addMilliseconds(end, at * APART_MS - BEGIN_MS), file);
    for (const [first] of sample.traces.slice(before)) titles.set(first?.traceId ?? "", title);
  }
  if (!signal.aborted) await player.playUntil(end, SUPPORT_AGENT);
  return titles;
}

function printSection(title: string, lines: readonly string[], out: Output): void {
  out.line();
  out.line(out.style("bold", title));
  for (const line of lines) out.line(line);
}
