import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseLines } from "../../cli/support/otlp-lines.ts";
import { fetchText } from "../../e2e/support/http.ts";
import { field, list, optionalText, text } from "../../e2e/support/json-shape.ts";
import { wholeRuns } from "../../e2e/support/serve-runs.ts";
import { sendUntilTaken } from "../../e2e/support/serve-sender.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { Ends } from "../ends.ts";
import type { Family } from "../family.ts";
import { verifyInProcess } from "../support/audit-verify.ts";
import {
  blanks,
  bytesOf,
  type FuzzedFile,
  fuzzedFile,
  readByLibrary,
} from "../support/fuzzed-file.ts";
import { MUTATIONS, type Mutation } from "../support/mutations.ts";
import { compareOutcomes, outcomeOf, replayed, SERVICE, spansArrive } from "../support/outcome.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import { DIALECTS, validLines } from "../support/valid-lines.ts";
import type { Trial } from "../trial.ts";

/** Mutated lines of a trial. */
const LINES = 100;
/** Whole runs among them, which must come out as they are. */
const WITNESSES = 4;
const WITNESS = "witness";
/** Seconds from second 0 to the year 2262: no time that a mutation makes ages runs of then. */
const LATE = 7_437_182_400;

/** Lines of every dialect that were made hostile, with valid ones around them. */
export const lines: Family = {
  name: "lines",
  about:
    "fuzzed lines of all dialects: each accepted, or rejected with file, line and field; none around lost",
  async run(trials, size) {
    const sources = validLines();
    const draw = (trial: Trial, index: number, mutation: Mutation) => {
      const dialect = DIALECTS[index % DIALECTS.length] ?? "entelix";
      const id = () => seededUuid(trial.random);
      const runs = wholeRuns(WITNESSES, WITNESS, LATE, id).flat();
      const around = dialect === "entelix" ? runs : [];
      return {
        runs,
        file: fuzzedFile(trial.random, dialect, sources[dialect], mutation, LINES, around),
      };
    };
    for (const mutation of MUTATIONS) {
      await trials.each(
        `${mutation.name}: replay`,
        size.of(16, 4),
        async (trial, index) => {
          const { file, runs } = draw(trial, index, mutation);
          await replayFile(trial, file, file.dialect === "entelix" ? runs : [], mutation);
        },
        { width: 3 },
      );
    }
    await using owner = new Ends();
    await using receiver = await OtlpServer.start();
    const audit = join(trials.root, "audit");
    const args = ["--endpoint", receiver.url, "--audit", audit, ...SERVICE];
    const { service, url } = await Service.start(owner, join(trials.root, "journal"), { args });
    const witnesses: string[] = [];
    for (const mutation of MUTATIONS) {
      await trials.each(`${mutation.name}: serve`, size.of(16, 4), async (trial, index) => {
        const { file, runs } = draw(trial, index, mutation);
        await sendFile(trial, url, file);
        witnesses.push(...runs);
        // Those that stand among the fuzzed lines are known.
        await sendUntilTaken(url, runs);
      });
    }
    const check = (trial: Trial) =>
      checkWitnesses(trial, { witnesses, receiver, service, url, audit });
    const options = { chained: true, boundMs: 180_000 };
    await trials.one("valid runs between them: serve", check, options);
  },
};

/**
 * Each line is accepted, or copied and told of with its number, or with that of the line that begins its value; the runs
 * around are as they are alone.
 */
async function replayFile(
  trial: Trial,
  file: FuzzedFile,
  runs: readonly string[],
  mutation: Mutation,
): Promise<void> {
  const folder = await trial.folder();
  const [events, out, rejects] = ["events.ndjson", "spans.ndjson", "rejects.ndjson"].map((name) =>
    join(folder, name),
  );
  if (events === undefined || out === undefined || rejects === undefined) throw new Error("paths");
  await writeFile(events, bytesOf(file));
  // The audit log takes no name that is longer than a service's: that is not what is tried here.
  const audit = mutation.name === "long names" ? [] : ["--audit", join(folder, "audit")];
  const args = ["--dialect", file.dialect, "--out", out, "--rejects", rejects, ...audit];
  const ran = await runCommand(trial, ["replay", events, ...args, "--json", ...SERVICE]);
  const named = new Set(numbersIn(ran.stderr, events));
  const { rejected, report, told } = await readByLibrary(file);
  count(trial, file, rejected);
  trial.equal("exit code", ran.code, rejected.size > 0 ? 2 : 0);
  trial.equal("lines that the command and the library name", [...named], [...told]);
  const silent = [...rejected].filter(
    (line) => !told.has(line) && !continues(file, line, rejected),
  );
  trial.equal("lines that are rejected without a word", silent, []);
  const summary: unknown = ran.stdout === "" ? {} : JSON.parse(ran.stdout);
  const counts = ["events", "rejected", "failures"].map((name) => Number(field(summary, name)));
  trial.equal("events, rejected, failures", counts, [
    report.events + report.unknown,
    rejected.size,
    0,
  ]);
  const all = report.events + report.unknown + report.rejected + report.skipped;
  trial.equal("lines", all, file.lines.length - blanks(file).size);
  const copied = file.lines.filter((_, at) => rejected.has(at + 1)).map((line) => `${line}\n`);
  trial.equal("the copy of the rejected lines", await readFile(rejects, "utf8"), copied.join(""));
  if (audit.length > 0) {
    const { code, said } = await verifyInProcess(join(folder, "audit"));
    trial.equal("exit code of audit verify", [code, code === 0 ? "" : said], [0, ""]);
  }
  if (runs.length > 0) await checkRuns(trial, out, runs, audit.length > 0);
}

/** Whether a line may be a part of a JSON value that began in a line before. */
function continues(file: FuzzedFile, line: number, rejected: ReadonlySet<number>): boolean {
  const content = String(file.lines[line - 1]).trim();
  return rejected.has(line - 1) || content === "]" || content === "}";
}

/** @param audited whether the spans name rows of an audit log. */
async function checkRuns(
  trial: Trial,
  out: string,
  runs: readonly string[],
  audited: boolean,
): Promise<void> {
  const audit = audited ? ["--audit", join(await trial.folder(), "alone")] : [];
  const spansOf = (lines: string) =>
    parseLines(lines)
      .filter(({ values }) => JSON.stringify(values["entelix.tenant_id"])?.includes(WITNESS))
      .map((span) => span.text)
      .sort();
  const alone = await runCommand(trial, ["replay", "-", "--out", "-", ...audit, ...SERVICE], {
    stdin: runs.map((line) => `${line}\n`).join(""),
  });
  const expected = spansOf(alone.stdout);
  const found = spansOf(await readFile(out, "utf8"));
  const missing = expected.filter((span) => !found.includes(span));
  trial.harm("lost", `the span ${missing[0]}`, found.join("\n"), missing.length);
  trial.harm(
    "doubled",
    `${expected.length} spans`,
    `${found.length}`,
    found.length - expected.length,
  );
}

/** Sends the lines as one body: each has a result, and that is what the library says of it. */
async function sendFile(trial: Trial, url: string, file: FuzzedFile): Promise<void> {
  const response = await fetch(`${url}/v1/events?dialect=${file.dialect}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: bytesOf(file),
    signal: AbortSignal.timeout(30_000),
  });
  const answer: unknown = await response.json();
  trial.equal("status", response.status, 200);
  const results = new Map(
    list(answer, "results").map((result) => [Number(field(result, "line")), result]),
  );
  const missing = blanks(file);
  const unanswered = file.lines.filter((_, at) => !missing.has(at + 1) && !results.has(at + 1));
  trial.harm("unanswered", "a result for each line", `none: ${unanswered[0]}`, unanswered.length);
  const { rejected } = await readByLibrary(file);
  const named = new Set<number>();
  for (const [line, result] of results) {
    if (text(result, "status") !== "rejected") {
      if (rejected.has(line)) trial.harm("unexpected", "a rejection", `${file.lines[line - 1]}`);
      continue;
    }
    named.add(line);
    const why = `${optionalText(result, "field")}: ${optionalText(result, "expected")}`;
    // Beyond what a file may have, a service has limits of its own.
    if (rejected.has(line) || /\bat most\b/.test(why)) continue;
    trial.harm("unexpected", `line ${line} accepted, as by replay`, why);
  }
  count(trial, file, named);
}

/** Counts the mutated lines; a valid one that is rejected is lost. */
function count(trial: Trial, file: FuzzedFile, rejected: ReadonlySet<number>): void {
  const blank = blanks(file);
  for (const [at, line] of file.lines.entries()) {
    const number = at + 1;
    if (file.valid.has(number)) {
      if (rejected.has(number)) trial.harm("lost", `line ${number} accepted`, `${line}`);
    } else if (rejected.has(number)) trial.refuse();
    else if (!blank.has(number)) trial.accept();
  }
}

/** `events.ndjson:12: field: expected …`, each line once. */
function numbersIn(stderr: string, file: string): number[] {
  const found = stderr.split("\n").filter((line) => line.startsWith(`${file}:`));
  const numbers = found.map((line) => Number(/^:(\d+): /.exec(line.slice(file.length))?.[1]));
  return [...new Set(numbers)];
}

async function checkWitnesses(
  trial: Trial,
  served: {
    readonly witnesses: readonly string[];
    readonly receiver: OtlpServer;
    readonly service: Service;
    readonly url: string;
    readonly audit: string;
  },
): Promise<void> {
  const { audit, receiver, service, url, witnesses } = served;
  trial.accept(witnesses.length);
  const expected = await replayed(trial, witnesses);
  const isOurs = ([, [content = ""]]: readonly [string, readonly string[]]) =>
    content.includes(`"${WITNESS}"`);
  await spansArrive(receiver, expected.spans.size, isOurs);
  const found = await outcomeOf(receiver, audit);
  compareOutcomes(
    trial,
    {
      spans: new Map([...found.spans].filter(isOurs)),
      rows: new Map([...found.rows].filter(isOurs)),
    },
    expected,
  );
  const metrics = await fetchText(`${url}/metrics`);
  for (const name of ["processor_rejected_total", "spans_refused_total", "rows_refused_total"]) {
    const [, value] = new RegExp(`^entelix_ingest_${name} (\\d+)$`, "m").exec(metrics) ?? [];
    trial.equal(name, value, "0");
  }
  const { code, said } = await service.stop();
  trial.equal("exit code after SIGTERM", code, 0);
  trial.equal("what serve said behind its first line", said.split("\n").slice(1).join("\n"), "");
  const again = await Service.start(trial, join(audit, "..", "journal"));
  trial.equal("exit code after a start with these lines", (await again.service.stop()).code, 0);
}
