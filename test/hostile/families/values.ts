import { Writable } from "node:stream";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { interrupt, runAgent } from "../../../src/entries/runtime.ts";
import { FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import { Bridge } from "../../../src/index.ts";
import { collectSpans } from "../../support/spans.ts";
import { bounded } from "../bounded.ts";
import type { Family } from "../family.ts";
import { WIDE_VALUES, type WideValue } from "../support/wide-values.ts";
import type { Trial } from "../trial.ts";

/** How long one run may take, in ms: it gives a value to eight places. */
const RUN_MS = 120_000;

/** CPU seconds of one run with its sinks, on a machine that does much else. */
const RUN_CPU_SECONDS = 40;

/** The only one that differs each time. */
const DRAWN = "list of drawn values";

const SECRET = "secret-operator-text";

/** Values that are wide, deep, binary or no JSON, in every place that takes any value. */
export const values: Family = {
  name: "values",
  alone: true,
  about:
    "values that are wide, deep, binary or no JSON, through every place of a run: spans, rows and recordings are JSON, and the agent gets its answer",
  async run(trials, size) {
    for (const value of WIDE_VALUES) {
      for (const content of size.short ? [true] : [false, true]) {
        const kind = `${value.name}, content ${content ? "on" : "off"}`;
        const count = value.name === DRAWN ? size.of(20, 1) : 1;
        await trials.each(kind, count, (trial) => play(trial, value, content), { boundMs: RUN_MS });
      }
    }
  },
};

async function play(trial: Trial, { make }: WideValue, captureContent: boolean): Promise<void> {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const { provider, spans } = collectSpans();
  const log = new MemorySessionLog();
  const bridge = new Bridge({ tracerProvider: provider, audit: log, captureContent });
  const recorder = new RecorderSink({ stream, source: bridge });
  const value = () => make(trial.random);
  const before = process.cpuUsage();
  const options = {
    agent: "wide",
    tenant: "acme",
    threadId: "t",
    sink: new FanOutSink([bridge, recorder]),
  };
  const answer = await bounded(
    runAgent({ ...options, input: value() }, async (run) => {
      await run.tool("look", { input: value() }, () => value());
      await run.model("m", { input: value() }, (call) => call.report({ output: value() }));
      return "answer";
    }),
    RUN_MS,
    "runAgent",
  );
  const paused = runAgent({ ...options, input: value() }, () => {
    throw interrupt({ type: "custom" }, value());
  });
  await bounded(
    paused.catch(() => {}),
    RUN_MS,
    "runAgent that pauses",
  );
  await bounded(bridge.shutdown(), RUN_MS, "shutdown");
  await recorder.shutdown();
  const { system, user } = process.cpuUsage(before);
  trial.accept();
  trial.equal("the answer", answer, "answer");
  if ((system + user) / 1e6 > RUN_CPU_SECONDS) {
    trial.harm("unexpected", `at most ${RUN_CPU_SECONDS} s of work`, `${(system + user) / 1e6} s`);
  }
  checkSpans(
    trial,
    spans().map(({ attributes }) => attributes),
    captureContent,
  );
  await checkRows(trial, log);
  for (const line of lines.join("").trimEnd().split("\n")) {
    if (isJson(line)) continue;
    trial.harm("unexpected", "lines of JSON in the recording", line.slice(0, 200));
  }
}

const MESSAGES = /^gen_ai\..*messages$/;

function checkSpans(
  trial: Trial,
  found: readonly Readonly<Record<string, unknown>>[],
  captureContent: boolean,
): void {
  for (const attributes of found) {
    for (const [name, value] of Object.entries(attributes)) {
      const size = typeof value === "string" ? Buffer.byteLength(value) : 0;
      if (size > (MESSAGES.test(name) ? 65_536 : 4_096)) {
        trial.harm("unexpected", `${name} within its limit`, `${size} bytes`);
      }
      if (MESSAGES.test(name) && !isJson(value)) {
        trial.harm("unexpected", `${name} in JSON`, String(value).slice(0, 200));
      }
    }
    const hasContent = Object.keys(attributes).some((name) => /arguments|messages$/.test(name));
    if (hasContent && !captureContent) trial.harm("unexpected", "no content", "content");
  }
}

async function checkRows(trial: Trial, log: MemorySessionLog): Promise<void> {
  const rows = await log.loadSince({ tenant_id: "acme", thread_id: "t" }, 0);
  const kinds = rows.map(({ event }) => event.kind);
  for (const kind of ["tool_call", "tool_result"]) {
    if (!kinds.includes(kind)) trial.harm("unexpected", `a row ${kind}`, kinds.join());
  }
  for (const { event_text: text } of rows) {
    if (!isJson(text)) trial.harm("unexpected", "rows of JSON", text.slice(0, 200));
    if (text.includes(SECRET)) trial.harm("unexpected", "no operator text in a row", text);
  }
}

function isJson(text: unknown): boolean {
  try {
    return typeof JSON.parse(String(text)) === "object";
  } catch {
    return false;
  }
}
