import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type VerifyReport, verifyLog } from "../../audit/door.ts";
import { shownUrl } from "../../bridge/door.ts";
import {
  type Command,
  closeAuditLog,
  counted,
  DEFAULT_JAEGER,
  failureTable,
  httpUrl,
  Interruption,
  type Io,
  isLocal,
  jaegerTrace,
  type Output,
  openAuditLog,
  padToWidth,
  RunTally,
  safe,
  TraceSample,
  traceText,
} from "../../cli/door.ts";
import { highest } from "../../events/format/door.ts";
import {
  type Delivery,
  type Destination,
  demoTelemetry,
  destinationOf,
} from "./demo/demo-telemetry.ts";
import { BUNDLED_RECORDINGS, RecordingPlayer } from "./demo/recordings.ts";
import { withRuns } from "./opened-runs.ts";
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
  name: "demo",
  summary: "Play recorded agent runs and show their traces and audit log.",
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "The runs were recorded from real agents, except those marked as constructed. Run IDs and times are new each time, and pauses are longer than recorded.",
    "To see them in the browser: entelix-otel demo --view. It ends with SIGINT or SIGTERM.",
    "To see them in Jaeger: entelix-otel demo --endpoint http://127.0.0.1:4318. With the repository's docker-compose.yml, failures are also in Prometheus and Grafana and raise alerts.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { out } = io;
    const destination = await destinationOf(values.endpoint, io.env);
    const jaeger = httpUrl("--jaeger", values.jaeger ?? DEFAULT_JAEGER, DEFAULT_JAEGER).href;
    const directory = values.audit ?? (await mkdtemp(join(tmpdir(), "entelix-otel-demo-")));
    const log = await openAuditLog(directory, []);
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
    const interruption = new Interruption();
    let traces: readonly TitledTrace[];
    let delivery: Delivery;
    let closed = true;
    try {
      traces = await play(new RecordingPlayer(bridge, interruption.signal), sample, out);
      delivery = await close();
    } finally {
      interruption.release();
      closed = await closeAuditLog(log, (text) => io.err.line(safe(text)));
    }
    if (interruption.exitCode !== undefined) {
      io.err.line("Interrupted.");
      return interruption.exitCode;
    }
    const report = await verifyLog(directory);
    const complete = delivery.undelivered + troubles.length === 0;
    printSection("Failed runs by tenant", failureTable(tally), out);
    printSection("Audit log", auditLines(directory, report, values.audit !== undefined, out), out);
    printSection(
      "Traces",
      [
        ...sentLines(tally, destination, delivery, troubles, out),
        ...(delivery.delivered > 0 ? addressLines(traces, jaeger, out) : []),
        ...(complete ? pageLines(destination, values.jaeger, out) : []),
      ],
      out,
    );
    const code = report.ok && closed && complete ? 0 : 1;
    if (values.view === true) return show(directory, code, io);
    const viewCommand = `  npx entelix-otel view ${asWord(directory)}`;
    printSection("To see these runs in the browser", [viewCommand], out);
    return code;
  },
};

/** Plays the recordings in turn, and prints the traces of each when it has ended. */
async function play(
  player: RecordingPlayer,
  sample: TraceSample,
  out: Output,
): Promise<TitledTrace[]> {
  const constructed = BUNDLED_RECORDINGS.filter((recording) => recording.constructed).length;
  const real = BUNDLED_RECORDINGS.length - constructed;
  const heading = `Playing ${real} recordings of real agents, and ${constructed} that is constructed:`;
  out.line(out.style("bold", heading));
  const traces: TitledTrace[] = [];
  for (const { constructed, file, title } of BUNDLED_RECORDINGS) {
    if (!(await player.play(file))) break;
    const ended = sample.traces.slice(traces.length);
    for (const [first] of ended) traces.push({ title, traceId: first?.traceId ?? "" });
    const lines = ended.flatMap((spans) => traceText(spans, out));
    printSection(`${title} (${constructed ? "constructed" : "recorded"})`, lines, out);
  }
  return traces;
}

interface TitledTrace {
  /** Title of the recording. */
  readonly title: string;
  readonly traceId: string;
}

/** Shows the page until a signal. @returns `code`, the exit code of the demo. */
async function show(directory: string, code: number, io: Io): Promise<number> {
  const page = await readPageFiles();
  return withRuns([directory], { follow: true, content: true }, io, async (runs, signal) => {
    io.out.line();
    await serveView(runs, { page, port: 0, open: true, signal }, io);
    return code;
  });
}

function printSection(title: string, lines: readonly string[], out: Output): void {
  out.line();
  out.line(out.style("bold", title));
  for (const line of lines) out.line(line);
}

/** @param given whether the user named the directory: earlier rows may be in it. */
function auditLines(
  directory: string,
  { ok, problemCount, rows, threads }: VerifyReport,
  given: boolean,
  out: Output,
): string[] {
  const word = asWord(directory);
  const held = `${counted(rows, "row")} in ${counted(threads, "thread")}`;
  const before = given ? ", including earlier rows" : "";
  const verdict = ok
    ? out.style("green", "✓ the chain holds")
    : out.style("red", `✗ ${counted(problemCount, "problem")} in the chain`);
  return [
    `${safe(directory)}: ${held}${before}. ${verdict}`,
    `  npx entelix-otel audit show ${word}`,
    `  npx entelix-otel audit verify ${word}`,
  ];
}

/** How many spans were made, and whether they arrived. */
function sentLines(
  { calls, runs, spans }: RunTally,
  destination: Destination,
  delivery: Delivery,
  troubles: readonly string[],
  out: Output,
): string[] {
  const made = `${counted(spans, "span")} (${counted(runs, "run")}, ${counted(calls, "tool call")})`;
  const errors = troubles.map((trouble) => out.style("red", safe(trouble)));
  if (destination.to === "nowhere") {
    return [
      `${made}. Nothing was sent: ${safe(destination.because)}. With Jaeger on this machine:`,
      "  npx entelix-otel demo --endpoint http://127.0.0.1:4318",
      ...errors,
    ];
  }
  const { given, metrics, spansOnly, traces } = destination;
  const to = safe(shownUrl(traces));
  if (delivery.undelivered > 0) {
    const option = given === undefined ? "" : ` --endpoint ${safe(shownUrl(given))}`;
    const lost = `${counted(delivery.undelivered, "span")} of ${spans} could not be delivered to ${to}.`;
    return [
      out.style("red", lost),
      ...errors,
      `npx entelix-otel doctor${option} says more about the endpoint.`,
    ];
  }
  if (spansOnly) {
    const noMetrics = "It takes no metrics; the collector of docker-compose.yml does.";
    return [`${made} delivered to ${to}.`, noMetrics, ...errors];
  }
  const also =
    errors.length > 0 || metrics === undefined ? "" : `, metrics to ${safe(shownUrl(metrics))}`;
  return [`${made} delivered to ${to}${also}.`, ...errors];
}

function addressLines(traces: readonly TitledTrace[], jaeger: string, out: Output): string[] {
  const width = highest(traces.map(({ title }) => title.length));
  return traces.map(({ title, traceId }) => {
    const address = out.style("cyan", jaegerTrace(jaeger, traceId));
    return `  ${padToWidth(title, width)}  ${address}`;
  });
}

/** Pages of the stack of docker-compose.yml; none where it does not seem to run on this machine. */
function pageLines(destination: Destination, jaeger: string | undefined, out: Output): string[] {
  if (destination.to === "nowhere" || destination.metrics === undefined) return [];
  if (!isLocal(destination.metrics) && (jaeger === undefined || !isLocal(jaeger))) return [];
  return [
    "In the stack of docker-compose.yml, within a minute:",
    `  dashboards  ${out.style("cyan", "http://127.0.0.1:3000")}`,
    `  metrics     ${out.style("cyan", "http://127.0.0.1:9090")}`,
    `  alerts      ${out.style("cyan", "http://127.0.0.1:9093")}`,
  ];
}

/** Quotes a file name for a shell, if necessary. */
function asWord(name: string): string {
  return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${safe(name).replaceAll("'", "'\\''")}'`;
}
