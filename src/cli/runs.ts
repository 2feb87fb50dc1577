import { parseArgs } from "node:util";
import { WAIT_KINDS } from "../bridge/door.ts";
import { fromMilliseconds } from "../events/door.ts";
import { MOST_RUNS, type OpenRunsAnswer, USUAL_RUNS } from "../service/door.ts";
import { CliError } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { askForRuns, DEFAULT_URL, TOKEN_VARIABLE, tokenFrom } from "./runs/ask-service.ts";
import { countOption } from "./services/options.ts";
import { sayWaiting } from "./services/say-waiting.ts";
import type { Output } from "./terminal/output.ts";
import { count, counted, duration, table } from "./terminal/table.ts";
import { cutToWidth, safe } from "./terminal/text.ts";

const OPTIONS = {
  url: {
    type: "string",
    value: "URL",
    about: `Address of the service. Default: ${DEFAULT_URL}.`,
  },
  "token-file": {
    type: "string",
    value: "FILE",
    about: `File whose first line is the token. Default: the variable ${TOKEN_VARIABLE}, else no token.`,
  },
  tenant: { type: "string", value: "T", about: "Only this tenant's runs." },
  agent: { type: "string", value: "NAME", about: "Only runs of this agent." },
  "waits-for": {
    type: "string",
    value: "KIND",
    about: `Only runs that wait for this: ${WAIT_KINDS.join(", ")}.`,
  },
  "idle-over": {
    type: "string",
    value: "S",
    about: "Only runs without an event for more than S seconds.",
  },
  limit: {
    type: "string",
    value: "N",
    about: `Maximum number of runs, at most ${count(MOST_RUNS)}. Default: ${USUAL_RUNS}.`,
  },
  json: { type: "boolean", about: "Print the answer of the service as one JSON object." },
} as const;

/** Lists the open runs of a running service. */
export const runs: Command = {
  operands: "",
  least: 0,
  most: 0,
  options: OPTIONS,
  notes: [
    "AGE is the time since the run started or continued, IDLE the time since its last event. WAITS FOR says what is open: a tool call, a model call, a child run or an approval.",
    "A tenant's token shows the runs of its tenant. A token with --runs shows those of all tenants. A service without tokens answers on its own machine only.",
    "Agents in your own process: call openRuns() of the bridge.",
    "Exit code: 0 the runs were listed, also when there are none, 1 the command failed.",
  ],
  run: async (args, io) => {
    const { values } = parseArgs({ args, options: OPTIONS });
    const waitsFor = values["waits-for"];
    if (waitsFor !== undefined && !WAIT_KINDS.some((kind) => kind === waitsFor)) {
      const known = WAIT_KINDS.join(", ");
      throw new CliError(`--waits-for: expected one of ${known}, got "${safe(waitsFor)}"`);
    }
    const limit = countOption("--limit", values.limit, USUAL_RUNS, 1, MOST_RUNS);
    const idleOver = values["idle-over"];
    if (idleOver !== undefined) countOption("--idle-over", idleOver, 0, 0, 1e9);
    const query = new URLSearchParams({ limit: String(limit) });
    const filters = {
      tenant: values.tenant,
      agent: values.agent,
      waits_for: waitsFor,
      idle_over: idleOver,
    };
    for (const [name, value] of Object.entries(filters)) {
      if (value !== undefined) query.set(name, value);
    }
    const token = await tokenFrom(values["token-file"], io.env[TOKEN_VARIABLE], sayWaiting(io));
    const answer = await askForRuns(values.url ?? DEFAULT_URL, query, token);
    if (values.json === true) io.out.json(JSON.stringify(answer));
    else show(answer, io);
    return 0;
  },
};

function show({ left_out, runs }: OpenRunsAnswer, { err, out }: Io): void {
  if (runs.length === 0) {
    err.line("No open runs.");
    return;
  }
  const rows = runs.map((run) => {
    const { kind, name } = run.waits_for;
    return [
      cell(out, run.tenant_id),
      cell(out, run.agent ?? ""),
      cell(out, run.run_id),
      time(run.age_ms),
      time(run.idle_ms),
      name === undefined ? kind : `${kind} ${cell(out, name)}`,
      run.input_tokens === undefined ? "" : count(run.input_tokens),
      run.output_tokens === undefined ? "" : count(run.output_tokens),
    ];
  });
  const [head = "", ...lines] = table([HEADING, ...rows]);
  out.line(out.style("bold", head));
  for (const line of lines) out.line(line);
  if (left_out === 0) return;
  err.line(`${counted(left_out, "more run")} left out. Use --limit, at most ${count(MOST_RUNS)}.`);
}

const HEADING = ["TENANT", "AGENT", "RUN", "AGE", "IDLE", "WAITS FOR", "TOKENS IN", "TOKENS OUT"];

/** Width of a name on a terminal. A UUID fits. */
const MOST_COLUMNS = 36;

/** A name from data, cut on a terminal and complete in a pipe. */
function cell(out: Output, text: string): string {
  return cutToWidth(safe(text), out.live ? MOST_COLUMNS : Number.POSITIVE_INFINITY);
}

function time(ms: number): string {
  return duration(fromMilliseconds(0), fromMilliseconds(ms));
}
