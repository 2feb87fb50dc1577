import { parseArgs } from "node:util";
import {
  environmentWarnings,
  type FinishedSpan,
  SpanOutlet,
  serviceResource,
  UNNAMED,
  UNNAMED_HINT,
} from "../bridge/door.ts";
import {
  type AnyRuntime,
  DIALECT_NAMES,
  formatIssue,
  type LineIssue,
  type RejectedLine,
} from "../replay/door.ts";
import { CliError, isBrokenPipe, messageOf } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { LIVE_PORT, liveEndpointWarning, REPLAY_PORT } from "./endpoints.ts";
import { closeAuditLog } from "./replay/audit-directory.ts";
import { inputFiles, totalSize } from "./replay/input-files.ts";
import { OUTPUTS_NOTE, summaryOutput } from "./replay/output-plan.ts";
import { Progress } from "./replay/progress.ts";
import { NamedRows, ProjectedLog, Unprojected } from "./replay/projected-rows.ts";
import { checkInputs, readSources } from "./replay/read-sources.ts";
import { oncePerOperation, ReplayJob, runtimesNamed } from "./replay/replay-job.ts";
import { openOutputs, type ReplayOutputs } from "./replay/replay-outputs.ts";
import { exitCodeOf, replaySummary, rowLines, summaryLines } from "./replay/replay-summary.ts";
import { SpanReplay } from "./replay/span-replay.ts";
import {
  AUDIT_ROWS_OPTION,
  auditRowsOption,
  SERVICE_NAME_OPTION,
  tenantOption,
} from "./services/options.ts";
import { SPAN_OPTIONS, spanChoices } from "./span-options.ts";
import { safe } from "./terminal/text.ts";
import { RunTally } from "./traces/run-tally.ts";
import { TraceSample } from "./traces/trace-lines.ts";

const OPTIONS = {
  dialect: {
    type: "string",
    value: "NAME",
    about: `${DIALECT_NAMES.join(", ")}. Default: auto, which detects it from the first lines of each source.`,
  },
  tenant: {
    type: "string",
    value: "NAME",
    about: "Tenant of events without a tenant. Default: default.",
  },
  out: {
    type: "string",
    value: "FILE",
    about: "Write the spans as OTLP/JSON lines to FILE, which is replaced at the end. - is stdout.",
  },
  audit: {
    type: "string",
    value: "DIR",
    about: "Write the audit rows to the log in DIR. It is created if it does not exist.",
  },
  "audit-rows": AUDIT_ROWS_OPTION,
  "no-spans": { type: "boolean", about: "With --audit: write only audit rows, no spans." },
  endpoint: {
    type: "string",
    value: "URL",
    about: `Send the spans to this URL (OTLP/HTTP); /v1/traces is appended. The shipped collector receives replays on port ${REPLAY_PORT}.`,
  },
  rejects: {
    type: "string",
    value: "FILE",
    about: "Copy invalid lines to FILE. - is stdout.",
  },
  "service-name": SERVICE_NAME_OPTION,
  json: { type: "boolean", about: "Print the summary as one JSON object." },
  ...SPAN_OPTIONS,
} as const;

/** Most traces that are shown, and spans of each. */
const TRACES_SHOWN = 5;
const SPANS_SHOWN = 40;

/** Replays recordings, and files of spans. Each replay makes identical spans and audit rows. */
export const replay: Command = {
  operands: "FILE…",
  least: 1,
  most: Number.POSITIVE_INFINITY,
  options: OPTIONS,
  notes: [
    "FILE contains one event per line (NDJSON, also gzip). - is standard input. Events are put in order if none comes more than 128 places late in its stream.",
    "Or FILE contains spans as OTLP/JSON lines, from view --listen --save, replay --out or the collector. They are printed and sent unchanged, also spans of other instrumentation. Options that change spans have no effect on them, and --audit refuses them.",
    "Spans go only to --endpoint and --out. OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_TRACES_SAMPLER are ignored. Protocol, headers, certificates, compression and timeout for --endpoint come from the OTEL_EXPORTER_OTLP_* variables. The resource comes from --service-name, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.",
    `Send replays to port ${REPLAY_PORT} of the shipped collector, which bypasses metrics. On port ${LIVE_PORT} they are counted as live and may raise alerts.`,
    "Rows that the log already contains are recognised by event ID and not written again. A row without event ID gets one: of entelix's events from run, type, call and time, of others from its thread, its position there and its text. Events without a row are counted by type (--no-spans, --json).",
    "An invalid line is reported as file:line: field: expectation. Other lines are not affected.",
    OUTPUTS_NOTE,
    "Exit code: 0 all lines were accepted, 2 some lines were rejected, 1 the command failed or something was lost.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const { json = false, "no-spans": rowsAlone = false } = values;
    if (rowsAlone) checkRowsAlone(values);
    const [first, ...others] = runtimesNamed(values.dialect);
    const tenant = tenantOption(values.tenant);
    const rows = auditRowsOption(values["audit-rows"], values.audit);
    const output = summaryOutput(values, io);
    const inputs = await inputFiles(positionals);
    await checkInputs(inputs, values);
    const outputs = await openOutputs(values, inputs, io);
    const tally = new RunTally();
    const sample = new TraceSample(TRACES_SHOWN, SPANS_SHOWN);
    const observe = (span: FinishedSpan) => {
      if (rowsAlone) return;
      tally.add(span);
      sample.add(span);
    };
    const outlet = new SpanOutlet(outputs.targets, observe);
    const progress = new Progress(io.err, totalSize(inputs));
    const say = (text: string) => {
      progress.clear();
      io.err.line(safe(text));
    };
    const service = serviceResource(values["service-name"]);
    for (const warning of await environmentWarnings()) {
      if (isOfUsedVariable(warning)) say(warning);
    }
    const warning = liveEndpointWarning(values.endpoint);
    if (warning !== undefined) say(warning);
    const { log, rejects, sender } = outputs;
    const projected = log === undefined ? undefined : new ProjectedLog(new NamedRows(log));
    const unprojected = projected === undefined ? undefined : new Unprojected(projected);
    const onIssue = (issue: LineIssue) => say(formatIssue(issue));
    const onRejected =
      rejects === undefined ? undefined : (line: RejectedLine) => rejects.add(line);
    const playedAs = (runtime: AnyRuntime) => unprojected?.counted(runtime) ?? runtime;
    const job = new ReplayJob({
      service,
      outlet,
      audit: projected,
      rows,
      onSpans: rowsAlone ? { captureContent: false } : spanChoices(values),
      runtimes: [playedAs(first), ...others.map(playedAs)],
      tenant,
      onIssue,
      onRejected,
      onEvent: () => progress.show(job.events, tally.spans),
      onError: oncePerOperation((error, operation) => say(`${operation}: ${messageOf(error)}`)),
    });
    const spans = new SpanReplay({
      targets: outputs.targets,
      observe: (span) => {
        observe(span);
        progress.show(job.events, tally.spans);
      },
      onIssue,
      onRejected,
    });
    let unreadable: string[];
    let closed = true;
    try {
      unreadable = await readSources(inputs, { job, spans, values, progress, io, say });
      await job.end();
      await rejects?.close();
    } catch (error) {
      throw named(error, outputs);
    } finally {
      progress.clear();
      if (log !== undefined) closed = await closeAuditLog(log, say);
    }
    const sent = sender?.result;
    const audit = projected && {
      directory: values.audit ?? "",
      rows: projected.rows,
      rows_by_kind: Object.fromEntries(projected.kinds),
      unprojected: unprojected?.counts ?? {},
      unsearched: log?.unsearched ?? 0,
    };
    const summary = replaySummary({ job, spans, tally, sent, audit, unreadable });
    const code = closed ? exitCodeOf(summary) : 1;
    if (json) {
      io.out.json(JSON.stringify(summary));
      return code;
    }
    const lines = rowsAlone
      ? rowLines(summary, output)
      : summaryLines(summary, tally, sample, output);
    for (const line of lines) output.line(line);
    if (outputs.targets.length === 0 && log === undefined) {
      const hint = "Nothing was sent or written. Use --endpoint, --out or --audit.";
      output.line(output.style("dim", hint));
    } else if (service.serviceName === UNNAMED && outputs.targets.length > 0 && job.events > 0) {
      output.line(output.style("dim", UNNAMED_HINT));
    }
    return code;
  },
};

/** @throws CliError without `--audit`, or with an option for spans. */
function checkRowsAlone(values: Readonly<Record<string, unknown>>): void {
  if (values.audit === undefined) {
    throw new CliError(
      "--no-spans: expected --audit DIR with it",
      "Run: entelix-otel replay --help",
    );
  }
  for (const option of ["endpoint", "out", ...Object.keys(SPAN_OPTIONS)]) {
    if (values[option] === undefined) continue;
    throw new CliError(`--${option}: expected no --no-spans with it: no spans are made`);
  }
}

/** Adds `--out` to an error of its file. */
function named(error: unknown, { lines }: ReplayOutputs): unknown {
  const failure = lines?.failure;
  // A closed pipe is not an error of the option.
  if (failure === undefined || isBrokenPipe(failure)) return failure ?? error;
  return new CliError(`--out: ${safe(failure.message)}`, undefined, { cause: failure });
}

/** Warnings about variables that `replay` uses. */
const USED_VARIABLES =
  /OTEL_RESOURCE_ATTRIBUTES|OTEL_EXPORTER_OTLP_(?:TRACES_|METRICS_)?(?:TIMEOUT|COMPRESSION|HEADERS)|OTEL_EXPORTER_OTLP_(?:TRACES_)?PROTOCOL/;

/** Whether a warning is about a variable that `replay` uses. Warnings about unreadable files name no variable. */
function isOfUsedVariable(warning: string): boolean {
  return (
    USED_VARIABLES.test(warning) ||
    (warning.startsWith("Failed to read ") && warning.endsWith(" file"))
  );
}
