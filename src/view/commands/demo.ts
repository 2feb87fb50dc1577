import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { verifyLog } from "../../audit/door.ts";
import type { Bridge } from "../../bridge/door.ts";
import {
  type Command,
  closeAuditLog,
  DEFAULT_JAEGER,
  httpUrl,
  InFlight,
  Interruption,
  type Io,
  openAuditLog,
  safe,
} from "../../cli/door.ts";
import { now } from "../../events/door.ts";
import { DemoReport } from "./demo/demo-report.ts";
import { type Delivery, demoTelemetry, destinationOf, pagesOf } from "./demo/demo-telemetry.ts";
import { LiveView } from "./demo/live-view.ts";
import {
  BUNDLED_RECORDINGS,
  FreshRunIds,
  type PlannedEvent,
  planPlay,
  readRecording,
} from "./demo/recordings.ts";
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

/** Plays agents' runs, so that traces and audit log can be looked at without an agent. */
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
    const destination = await destinationOf(values.endpoint, io.env);
    const jaeger = httpUrl("--jaeger", values.jaeger ?? DEFAULT_JAEGER, DEFAULT_JAEGER).href;
    const directory = values.audit ?? (await mkdtemp(join(tmpdir(), "entelix-otel-demo-")));
    const log = await openAuditLog(directory, []);
    const report = new DemoReport();
    const { bridge, close } = demoTelemetry({
      destination,
      audit: log,
      observe: (span) => report.add(span),
      onTrouble: (trouble) => report.addTrouble(trouble),
    });
    const interruption = new Interruption();
    let delivery: Delivery;
    let closed = true;
    try {
      await play(bridge, report, interruption.signal, io);
      delivery = await close();
    } finally {
      interruption.release();
      closed = await closeAuditLog(log, (text) => io.err.line(safe(text)));
    }
    if (interruption.exitCode !== undefined) {
      io.err.line("Interrupted.");
      return interruption.exitCode;
    }
    const verified = await verifyLog(directory);
    const given = values.audit !== undefined;
    const pages = pagesOf(destination, values.jaeger);
    const { view = false } = values;
    const result = { verified, directory, given, jaeger, destination, delivery, pages, view };
    const printed = report.print(result, io.out);
    const code = closed ? printed : 1;
    return view ? show(directory, code, io) : code;
  },
};

/** @returns the exit code that the demo has: the page ends when the user has seen enough. */
async function show(directory: string, code: number, io: Io): Promise<number> {
  const page = await readPageFiles();
  return withRuns([directory], { follow: true, content: true }, io, async (runs, signal) => {
    io.out.line();
    await serveView(runs, { page, port: 0, open: true, signal }, io);
    return code;
  });
}

async function play(
  bridge: Bridge,
  report: DemoReport,
  signal: AbortSignal,
  { out }: Io,
): Promise<void> {
  const ids = new FreshRunIds();
  const recordings = [];
  for (const recording of BUNDLED_RECORDINGS) {
    recordings.push(await readRecording(recording, (text) => ids.rename(text)));
  }
  const constructed = BUNDLED_RECORDINGS.filter((recording) => recording.constructed).length;
  out.line(
    out.style(
      "bold",
      `Playing ${BUNDLED_RECORDINGS.length - constructed} recordings of real agents, and ${constructed} that is constructed:`,
    ),
  );
  const plan = planPlay(recordings, now());
  const view = new LiveView(BUNDLED_RECORDINGS, out);
  const stored = new InFlight();
  try {
    await playPlan(plan, signal, (planned) => {
      view.take(planned.recording, planned.event);
      report.belongsTo(planned.event, planned.recording);
      const row = bridge.send(planned.event, planned.envelope);
      if (row !== undefined) stored.add(row);
    });
    await stored.settle();
  } finally {
    view.stop();
  }
}

/** Sends each event when its time has come; returns early when the signal is aborted. */
async function playPlan(
  plan: readonly PlannedEvent[],
  signal: AbortSignal,
  send: (planned: PlannedEvent) => void,
): Promise<void> {
  const begun = performance.now();
  for (const planned of plan) {
    const wait = planned.afterMs - (performance.now() - begun);
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    send(planned);
  }
}
