import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  CliError,
  type Command,
  checkApart,
  count,
  counted,
  folderEntry,
  type InputFile,
  type Io,
  inputFiles,
  OUTPUTS_NOTE,
  type OutputPlan,
  OutputWriter,
  planOutput,
  safe,
  summaryOutput,
} from "../../cli/door.ts";
import { MOST_LISTED } from "../model/list-limits.ts";
import type { PageFiles } from "../page-html.ts";
import type { ViewedRuns } from "../runs/viewed-runs.ts";
import { costEstimates } from "./cost-estimates.ts";
import {
  allRead,
  exitCodeOf,
  keysOf,
  leftOutLines,
  problemLines,
  withRuns,
} from "./opened-runs.ts";
import { readPageFiles } from "./page-files.ts";
import { SOURCE_OPTIONS, SOURCES_NOTE, sourcesOptions } from "./source-options.ts";
import {
  MOST_BYTES,
  MOST_RUNS,
  type ReportCounts,
  type ReportRuns,
  writeReport,
} from "./write-report.ts";

const OPTIONS = {
  ...SOURCE_OPTIONS,
  run: {
    type: "string",
    value: "ID",
    about:
      "The run with this run ID, with the runs before and after its pauses. Default: all failed runs, also with these.",
  },
  out: { type: "string", value: "FILE", about: "Write the page to FILE. - is stdout." },
  "chrome-trace": {
    type: "string",
    value: "FILE",
    about:
      "Write the runs in the trace event format, which Perfetto and speedscope open. - is stdout.",
  },
  "capture-content": {
    type: "boolean",
    about: "Include content: messages, inputs and outputs of tools, payloads. Default: off.",
  },
} as const;

/** Writes runs as one file. */
export const report: Command = {
  operands: "FILE|DIR|URL…",
  least: 0,
  most: Number.POSITIVE_INFINITY,
  options: OPTIONS,
  notes: [
    SOURCES_NOTE,
    `Without --run, the file has the newest ${count(MOST_RUNS)} failed runs of the newest ${count(MOST_LISTED)} runs, as many as fit into ${MOST_BYTES / 1e6} MB. The command says how many were left out.`,
    "Without --capture-content, spans have no content, and audit rows only kind, time, IDs, hashes and the verdict of the log. The page says so.",
    OUTPUTS_NOTE,
    "Exit code: 0 written, 2 written and something is wrong with a source, 1 the command failed.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const { out, run, "capture-content": content = false, "chrome-trace": trace } = values;
    const options = sourcesOptions(positionals, values, {
      follow: false,
      content,
      estimates: await costEstimates(values),
    });
    if (out === undefined && trace === undefined) {
      throw new CliError("expected --out FILE, --chrome-trace FILE, or both", HINT);
    }
    const output = summaryOutput({ out, "chrome-trace": trace }, io);
    const plans = await outputPlans(values, positionals);
    const page = await readPageFiles();
    return withRuns(positionals, options, io, async (runs, signal) => {
      if (!(await allRead(runs, signal))) return undefined;
      const keys = run === undefined ? runs.failedKeys() : keysOf(runs, run);
      const asked = { keys, limited: run === undefined, signal };
      const counts = await write(runs, asked, page, plans, io);
      if (counts === undefined) return undefined;
      for (const line of summary(counts, values)) output.line(line);
      if (run === undefined) for (const line of leftOutLines(runs)) io.err.line(line);
      for (const line of problemLines(runs)) io.err.line(line);
      return exitCodeOf(runs);
    });
  },
};

const HINT = "Run: entelix-otel report --help";

interface Outputs {
  readonly run?: string | undefined;
  readonly out?: string | undefined;
  readonly "chrome-trace"?: string | undefined;
}

interface Plans {
  readonly html: OutputPlan | undefined;
  readonly trace: OutputPlan | undefined;
}

/** @throws CliError when an output can't be written, or would overwrite an input. */
async function outputPlans(values: Outputs, operands: readonly string[]): Promise<Plans> {
  const inputs = await filesOf(operands);
  const plan = (option: "out" | "chrome-trace") => {
    const name = values[option];
    return name === undefined ? undefined : planOutput(`--${option}`, name, { inputs });
  };
  const html = await plan("out");
  const trace = await plan("chrome-trace");
  if (html !== undefined && trace !== undefined) checkApart(html, trace);
  return { html, trace };
}

/** The files that are read, including those of folders. An output must not overwrite them. */
async function filesOf(operands: readonly string[]): Promise<readonly InputFile[]> {
  const names: string[] = [];
  const folders: string[] = [];
  for (const operand of operands) {
    const found = operand === "-" ? undefined : await stat(operand).catch(() => undefined);
    if (found?.isDirectory() === true) folders.push(operand);
    // Opening the sources reports missing files. A database is not a file.
    else if (operand === "-" || found !== undefined) names.push(operand);
  }
  const inputs = await Promise.all(folders.map(filesIn));
  return [...inputs.flat(), ...(await inputFiles(names))];
}

/** The files of a folder. Other entries cannot be overwritten. */
async function filesIn(folder: string): Promise<InputFile[]> {
  const names = await readdir(folder).catch(() => []);
  const found = names.map((name) => folderEntry(join(folder, name)).catch(() => undefined));
  return (await Promise.all(found)).filter((file) => file !== undefined);
}

/** Writes all or nothing. @returns `undefined` if the signal ended it. */
async function write(
  runs: ViewedRuns,
  asked: ReportRuns,
  page: PageFiles,
  plans: Plans,
  io: Io,
): Promise<ReportCounts | undefined> {
  const html = plans.html && (await OutputWriter.open(plans.html, io));
  const trace = plans.trace && (await OutputWriter.open(plans.trace, io));
  let counts: ReportCounts | undefined;
  try {
    counts = await writeReport(runs, asked, page, { html, trace });
    return counts;
  } finally {
    if (counts === undefined) {
      html?.discard();
      trace?.discard();
    }
  }
}

function summary({ leftOut, others, runs }: ReportCounts, values: Outputs): string[] {
  const what = values.run === undefined ? "failed run" : "run";
  const files = [values.out, values["chrome-trace"]].filter((name) => name !== undefined);
  const more = others === 0 ? "" : ` and ${counted(others, "run")} before or after a pause`;
  const lines = [`${counted(runs, what)}${more}: ${files.map(safe).join(", ")}`];
  if (leftOut > 0) {
    lines.push(`${counted(leftOut, "more failed run")} left out. --run ID writes one of them.`);
  }
  return lines;
}
