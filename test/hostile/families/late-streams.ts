import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExact } from "../../../src/entries/events.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { sendUntilTaken } from "../../e2e/support/serve-sender.ts";
import { type LateStreams, lateStreams } from "../../replay/input/support/late-streams.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import type { Family } from "../family.ts";
import { compareOutcomes, outcomeOf, replayed, SERVICE, spansArrive } from "../support/outcome.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";

const HOUR = 3_600;
/** Spans of a root and the run below it. */
const SPANS_A_ROOT = 5;
const ROOTS = 200;
const LINES_A_ROOT = 9;
/** Lines that are shuffled among each other: fewer than the reorder buffer holds. */
const BLOCK = 100;

/** By how many seconds streams are apart. */
const KINDS: Readonly<Record<string, readonly number[]>> = {
  "backlogs of hours ago": [0, 0, 0, -HOUR, -9 * HOUR],
  "a clock an hour behind": [0, -HOUR],
  "a clock an hour ahead": [0, 0, 0, HOUR],
  "most are late": [0, -HOUR, -2 * HOUR, -20 * HOUR],
  "days late": [0, -50 * HOUR],
};

/** Streams of all times at once, in disorder: each run is as it is where all lines are sorted. */
export const lateStreamsFamily: Family = {
  name: "late-streams",
  about:
    "runs hours apart, mixed and shuffled: each has agent, outcome and spans as of sorted lines",
  async run(trials, size) {
    for (const [kind, offsets] of Object.entries(KINDS)) {
      const draw = (trial: Trial) => drawn(trial, offsets);
      await trials.each(`${kind}: replay`, size.of(6, 1), (trial) => byReplay(trial, draw(trial)));
      await trials.each(`${kind}: view`, size.of(6, 1), (trial) => byView(trial, draw(trial)));
    }
    // All at a time, since each waits for the reorder buffer.
    const options = { boundMs: 180_000 };
    await Promise.all(
      Object.entries(KINDS).map(([kind, offsets]) =>
        trials.each(
          `${kind}: serve`,
          size.of(4, 1),
          (trial) => byServe(trial, drawn(trial, offsets)),
          options,
        ),
      ),
    );
  },
};

function drawn(trial: Trial, offsets: readonly number[]): LateStreams {
  return lateStreams(trial.random, { roots: ROOTS, block: BLOCK, offsets, runId: seededUuid });
}

async function byReplay(trial: Trial, streams: LateStreams): Promise<void> {
  const folder = await trial.folder();
  const audit = join(folder, "audit");
  await using receiver = await OtlpServer.start();
  const args = ["replay", await fileOf(trial, streams), "--endpoint", receiver.url, ...SERVICE];
  const { code, stderr } = await runCommand(trial, [...args, "--audit", audit]);
  trial.equal("exit code", [code, stderr], [0, ""]);
  trial.accept(streams.arrived.length);
  compareOutcomes(trial, await outcomeOf(receiver, audit), await sorted(trial, streams));
}

async function byServe(trial: Trial, streams: LateStreams): Promise<void> {
  const folder = await trial.folder();
  await using receiver = await OtlpServer.start();
  const audit = join(folder, "audit");
  const args = ["--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const start = () => Service.start(trial, join(folder, "journal"), { args });
  let { service, url } = await start();
  const killed = BLOCK * trial.random.below(streams.arrived.length / BLOCK);
  for (let from = 0; from < streams.arrived.length; from += BLOCK) {
    if (from === killed) {
      await service.kill();
      ({ service, url } = await start());
    }
    // A block is taken at once: between two of them may be more time than lines wait.
    await sendUntilTaken(url, streams.arrived.slice(from, from + BLOCK));
  }
  await spansArrive(receiver, ROOTS * SPANS_A_ROOT);
  trial.equal("exit code after SIGTERM", (await service.stop()).code, 0);
  trial.accept(streams.arrived.length);
  compareOutcomes(trial, await outcomeOf(receiver, audit), await sorted(trial, streams));
}

async function byView(trial: Trial, streams: LateStreams): Promise<void> {
  const args = ["view", await fileOf(trial, streams), "--json"];
  const { code, stdout } = await runCommand(trial, args);
  trial.equal("exit code", code, 0);
  trial.accept(streams.arrived.length);
  const list = parseExact(stdout);
  const runs = isJsonObject(list) && Array.isArray(list.runs) ? list.runs : [];
  const whole = runs.filter(
    (run) => isJsonObject(run) && run.agent !== undefined && run.outcome === "complete",
  );
  const missing = streams.runs.length - whole.length;
  trial.harm("altered", "each run with its agent, complete", `${whole.length}`, missing);
  trial.equal("runs", runs.length, streams.runs.length);
}

async function fileOf(trial: Trial, { arrived }: LateStreams): Promise<string> {
  const file = join(await trial.folder(), "events.ndjson");
  await writeFile(file, arrived.map((line) => `${line}\n`).join(""));
  return file;
}

/** What one replay of the sorted lines makes: all of it, each run complete. */
async function sorted(trial: Trial, streams: LateStreams) {
  const expected = await replayed(trial, streams.sorted);
  trial.equal("spans of the sorted lines", expected.spans.size, ROOTS * SPANS_A_ROOT);
  trial.equal("lines", streams.sorted.length, ROOTS * LINES_A_ROOT);
  return expected;
}
