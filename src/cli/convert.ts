import { parseArgs } from "node:util";
import { formatIssue } from "../ingest/line-issue.ts";
import { serviceResource } from "../otel/replay/service-resource.ts";
import { SpanOutlet } from "../otel/replay/span-outlet.ts";
import { DIALECT_NAMES } from "../runtimes/runtimes.ts";
import { CliError, messageOf } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { convertLines, convertSummary, exitCodeOf } from "./convert/convert-summary.ts";
import { Unprojected } from "./convert/counted-runtime.ts";
import { ProjectedLog } from "./convert/projected-log.ts";
import { NamedRows } from "./recorded/named-rows.ts";
import { readSources, totalSize } from "./recorded/read-sources.ts";
import { runtimesNamed } from "./recorded/runtimes-named.ts";
import { closeAuditLog, openAuditLog } from "./replay/audit-directory.ts";
import { inputFiles } from "./replay/input-file.ts";
import { onceAPlace } from "./replay/once-a-place.ts";
import { OUTPUTS_NOTE, planOutput } from "./replay/output-plan.ts";
import { Progress } from "./replay/progress.ts";
import { RejectsFile } from "./replay/rejects-file.ts";
import { ReplayJob } from "./replay/replay-job.ts";
import { summaryOutput } from "./replay/standard-output.ts";
import { tenantOption } from "./services/tenant-option.ts";
import { safe } from "./terminal/safe-text.ts";

const OPTIONS = {
  audit: {
    type: "string",
    value: "DIR",
    about: "The log to write to; made where there is none. Required.",
  },
  dialect: {
    type: "string",
    value: "NAME",
    about: `${DIALECT_NAMES.join(", ")}; auto (the default) is told by the first lines.`,
  },
  tenant: {
    type: "string",
    value: "T",
    about: "Tenant of the events that name none. Default: default.",
  },
  rejects: {
    type: "string",
    value: "FILE",
    about: "Copy the lines that are no events to FILE; - is stdout.",
  },
  json: { type: "boolean", about: "Print the summary as one JSON object." },
} as const;

/** Writes the audit rows of recordings, of whatever runtime, to a log. */
export const convert: Command = {
  name: "convert",
  summary: "Turn recorded events of any runtime into an audit log, as far as they have rows.",
  operands: "FILE…",
  least: 1,
  most: Number.POSITIVE_INFINITY,
  options: OPTIONS,
  notes: [
    "FILE has one event a line (NDJSON, also gzip); - is standard input. The rows are those that replay --audit writes, with the ids of the spans that it makes; no spans are made.",
    "Rows that the log has already are known by their event ids and not written again, so a file can be converted twice; a line without one gets an id of its thread, its place there and its text. What the log has of their threads is read for that.",
    "Events without a row in an audit log are counted by type. A bad line is reported as file:line: field: what was expected, and does not stop the rest.",
    OUTPUTS_NOTE,
    "Exit code: 0 all taken, 2 some lines rejected, 1 it could not run or something was lost.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const { audit: directory, json = false } = values;
    if (directory === undefined) {
      throw new CliError(
        "expected --audit DIR: the log to write to",
        "Run: entelix-otel convert --help",
      );
    }
    const [first, ...others] = runtimesNamed(values.dialect);
    const tenant = tenantOption(values.tenant);
    const output = summaryOutput(values, io);
    const inputs = await inputFiles(positionals);
    const plan =
      values.rejects === undefined
        ? undefined
        : await planOutput("--rejects", values.rejects, { inputs, audit: directory });
    const rejects = plan === undefined ? undefined : await RejectsFile.open(plan, io);
    const store = await openAuditLog(directory, inputs);
    const log = new ProjectedLog(new NamedRows(store));
    const unprojected = new Unprojected(log);
    const progress = new Progress(io.err, totalSize(inputs));
    const say = (text: string) => {
      progress.clear();
      io.err.line(safe(text));
    };
    const job = new ReplayJob({
      service: serviceResource(undefined),
      outlet: new SpanOutlet([], () => {}),
      audit: log,
      captureContent: false,
      runtimes: [unprojected.counted(first), ...others.map((each) => unprojected.counted(each))],
      tenant,
      onIssue: (issue) => say(formatIssue(issue)),
      onRejected: rejects === undefined ? undefined : (line) => rejects.add(line),
      onEvent: () => progress.show(job.events, 0),
      onError: onceAPlace((error, place) => say(`${place}: ${messageOf(error)}`)),
    });
    let unreadable: string[];
    let closed = true;
    try {
      unreadable = await readSources(job, inputs, progress, io, say);
      await job.end();
      await rejects?.close();
    } finally {
      progress.clear();
      closed = await closeAuditLog(store, say);
    }
    const { counts } = unprojected;
    const summary = convertSummary({
      job,
      log,
      unprojected: counts,
      directory,
      unsearched: store.unsearched,
      unreadable,
    });
    if (json) io.out.json(JSON.stringify(summary));
    else for (const line of convertLines(summary, output)) output.line(line);
    return closed ? exitCodeOf(summary) : 1;
  },
};
