import { parseArgs } from "node:util";
import { CliError, type Command, count, countOption, type Io, safeJson } from "../../cli/door.ts";
import { jsonPieces } from "../json-pieces.ts";
import { MOST_LISTED } from "../model/list-limits.ts";
import type { ViewedRuns } from "../runs/viewed-runs.ts";
import { costEstimates } from "./cost-estimates.ts";
import { DEFAULT_LISTEN, LISTEN, listenAddress } from "./listen-option.ts";
import { allRead, exitCodeOf, keysOf, leftOutLines, withRuns } from "./opened-runs.ts";
import { readPageFiles } from "./page-files.ts";
import { serveView } from "./serve-view.ts";
import { SOURCE_OPTIONS, SOURCES_NOTE, sourcesOptions } from "./source-options.ts";

const OPTIONS = {
  ...SOURCE_OPTIONS,
  open: { type: "boolean", about: "Open the page in the browser." },
  port: {
    type: "string",
    value: "N",
    about: "Port on 127.0.0.1. Default: any free port.",
  },
  listen: {
    type: "string",
    value: "[HOST:]PORT",
    optional: { value: DEFAULT_LISTEN, accepts: LISTEN },
    about: `Take the spans that programs send (OTLP over HTTP). Default: ${DEFAULT_LISTEN}, where exporters send them without a setting.`,
  },
  save: {
    type: "string",
    value: "FILE",
    about:
      "Also write the spans of --listen to FILE, which view, report and replay read. It is created, or grows.",
  },
  json: {
    type: "boolean",
    about: "Print the list of runs as JSON, with --run the run, and end. No page is served.",
  },
} as const;

/** Shows runs on a page of this machine, without any server. */
export const view: Command = {
  operands: "[FILE|DIR|URL]…",
  least: 0,
  most: Number.POSITIVE_INFINITY,
  options: OPTIONS,
  notes: [
    SOURCES_NOTE,
    "The page is served on 127.0.0.1 only. Its address has a token that works once, in one browser. Files and logs are followed as they grow, and Jaeger is asked again every 10 s. A database is read once.",
    "With --listen, run your program beside it: its runs appear while it works. Spans of other instrumentation are shown, too, by the GenAI conventions and by OpenInference's names. Metrics and logs are taken, and not kept. Pages of browsers may not send anything.",
    `The page shows content: messages, inputs and outputs of tools, payloads of audit rows. It has the newest ${count(MOST_LISTED)} runs, and says how many are left out.`,
    "Exit code: 0 stopped by SIGINT or SIGTERM, or printed with --json; 2 printed, and something is wrong with a source; 1 the command failed.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const { json = false, open = false, run, save } = values;
    const listen = listenAddress(values.listen);
    if (json && (open || values.port !== undefined || listen !== undefined)) {
      throw new CliError(
        "--json: expected no --open, --port or --listen with it: no page is served then",
      );
    }
    if (save !== undefined && listen === undefined) {
      throw new CliError("--save: expected --listen with it: it writes the spans that are sent");
    }
    const port = countOption("--port", values.port, 0, 1, 65_535);
    const options = sourcesOptions(positionals, values, {
      follow: !json,
      content: true,
      estimates: await costEstimates(values),
      ...(listen === undefined ? {} : { listen }),
      ...(save === undefined ? {} : { save }),
    });
    const page = json ? undefined : await readPageFiles();
    return withRuns(positionals, options, io, async (runs, signal) => {
      if (page === undefined || run !== undefined) {
        if (!(await allRead(runs, signal))) return undefined;
      }
      const keys = run === undefined ? undefined : keysOf(runs, run);
      if (page === undefined) return print(runs, keys, io);
      await serveView(runs, { page, port, key: keys?.[0], open, signal }, io);
      return 0;
    });
  },
};

/** Prints the list, or each run on a line: several tenants can have the same run ID. */
async function print(
  runs: ViewedRuns,
  keys: readonly string[] | undefined,
  { err, out }: Io,
): Promise<number> {
  const write = async (pieces: Iterable<string>) => {
    for (const piece of pieces) {
      if (out.closed) return;
      out.write(out.live ? safeJson(piece) : piece);
      await out.drained();
    }
    out.line();
  };
  if (keys === undefined) {
    await write(runs.listJson());
    for (const line of leftOutLines(runs)) err.line(line);
  }
  for (const key of keys ?? []) {
    const detail = await runs.detail(key);
    if (detail !== undefined) await write(jsonPieces(detail));
  }
  return exitCodeOf(runs);
}
