import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { namedPorts } from "../../e2e/support/free-ports.ts";
import { SPANS_A_RUN, wholeRuns } from "../../e2e/support/serve-runs.ts";
import { sendUntilTaken } from "../../e2e/support/serve-sender.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { Ends } from "../ends.ts";
import type { Family } from "../family.ts";
import { compareOutcomes, outcomeOf, replayed, SERVICE, spansArrive } from "../support/outcome.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";

/** Senders at a time, each on connections of its own. */
const SENDERS = 4;
/** Runs of a sender in each trial. */
const RUNS = 20;
/** Runs beside each other in a request. */
const GROUP = 6;
/** A line is sent so often, with 20 ms between: long enough for two starts on a busy machine. */
const TRIES = 3_000;

/** `kill -9` of the service while senders go on and on until each line is acknowledged. */
export const kill: Family = {
  name: "kill",
  about:
    "kill -9 of serve under load and while it starts; each acknowledged event is one span, one row",
  async run(trials, size) {
    const history = new History();
    const port = (await namedPorts(["serve"]))("serve");
    await using receiver = await OtlpServer.start({ answer: () => (history.away ? 503 : 200) });
    const place = join(trials.root, "serve");
    await using owner = new Ends();
    const args = ["--endpoint", receiver.url, "--audit", join(place, "audit"), ...SERVICE];
    const spawn = () => Service.spawn(owner, join(place, "journal"), { args, port });
    const url = `http://127.0.0.1:${port}`;
    let service = spawn();
    await service.listening();
    let startMs = 500;
    /** Sends the trial's load, and meanwhile kills and starts as `during` says. */
    const underLoad = async (trial: Trial, index: number, during: () => Promise<void>) => {
      history.away = index % 4 === 3;
      const load = sendLoad(trial, url, history);
      await sleep(30 + trial.random.below(250));
      await during();
      history.away = false;
      await load;
      trial.accept();
    };
    const killed = async () => {
      await service.kill();
      service = spawn();
    };
    const up = async () => {
      const since = performance.now();
      const said = await service.listening();
      startMs = performance.now() - since;
      if (said === undefined) throw new Error(`serve did not start again: ${service.said}`);
    };
    const options = { boundMs: 180_000, chained: true };
    await trials.each(
      "kill -9 under load",
      size.of(20, 3),
      (trial, index) =>
        underLoad(trial, index, async () => {
          await killed();
          await up();
        }),
      options,
    );
    await trials.each(
      "kill -9 while it starts and reads its journal",
      size.of(16, 2),
      (trial, index) =>
        underLoad(trial, index, async () => {
          await killed();
          await sleep(trial.random.below(Math.ceil(startMs * 1.2)));
          await killed();
          await up();
        }),
      options,
    );
    await trials.each(
      "kill -9 while it ends after SIGTERM",
      size.of(6, 1),
      (trial, index) =>
        underLoad(trial, index, async () => {
          const ending = service;
          const stopped = ending.stop();
          await sleep(trial.random.below(300));
          await ending.kill();
          await stopped;
          service = spawn();
          await up();
        }),
      options,
    );
    await trials.one(
      "events acknowledged meanwhile",
      async (trial) => {
        await killed();
        await up();
        await checkHistory(trial, history, receiver, service, join(place, "audit"));
      },
      options,
    );
  },
};

/** What was sent so far, and what was acknowledged of it. */
class History {
  readonly lines: string[] = [];
  readonly taken = new Set<string>();
  /** Whether the receiver of spans answers 503. */
  away = false;
  /** Seconds after second 0 where the next trial's runs begin. */
  from = 0;
}

async function sendLoad(trial: Trial, url: string, history: History): Promise<void> {
  const runs = wholeRuns(SENDERS * RUNS, "acme", history.from, () => seededUuid(trial.random));
  history.from += 60;
  history.lines.push(...runs.flat());
  await Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      const own = runs.slice(sender * RUNS, (sender + 1) * RUNS);
      for (let at = 0; at < own.length; at += GROUP) {
        const group = own.slice(at, at + GROUP);
        // A run over several requests, so that a kill may come in its middle.
        for (const half of [0, 4]) {
          const lines = group.flatMap((run) => run.slice(half, half + 4));
          await sendUntilTaken(url, lines, (line) => void history.taken.add(line), TRIES);
        }
      }
    }),
  );
}

async function checkHistory(
  trial: Trial,
  { lines, taken }: History,
  receiver: OtlpServer,
  service: Service,
  audit: string,
): Promise<void> {
  trial.accept(taken.size);
  trial.harm("unanswered", "each line acknowledged", "no answer", lines.length - taken.size);
  await spansArrive(receiver, (lines.length / LINES_A_RUN) * SPANS_A_RUN);
  const { code } = await service.stop();
  trial.equal("exit code after SIGTERM", code, 0);
  compareOutcomes(trial, await outcomeOf(receiver, audit), await replayed(trial, lines));
  trial.equal("faults of the receiver", receiver.faults.map(String), []);
  const verified = await runCommand(trial, ["audit", "verify", audit]);
  trial.equal("exit code of audit verify", verified.code, 0);
}

const LINES_A_RUN = 8;
