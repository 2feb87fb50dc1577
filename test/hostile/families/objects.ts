import { setTimeout as sleep } from "node:timers/promises";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { bounded } from "../bounded.ts";
import type { Family } from "../family.ts";
import { CALLS, type CallsUnderTest } from "../support/hostile-calls.ts";
import { drawSend } from "../support/hostile-events.ts";
import {
  type MadeSink,
  SINKS,
  type SinkUnderTest,
  sendAnything,
} from "../support/hostile-sinks.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import type { Trial } from "../trial.ts";

/** Hostile events of a trial. */
const SENDS = 20;
/** How long a result may take, in ms. */
const RESULT_MS = 20_000;

/** The library with objects that throw wherever they are touched. */
export const objects: Family = {
  name: "objects",
  about:
    "the library with hostile objects (throwing Proxies, getters): nothing is thrown into the agent",
  async run(trials, size) {
    const loose: unknown[] = [];
    const hear = (reason: unknown) => void loose.push(reason);
    setUnclassifiedWarning(() => {});
    process.on("unhandledRejection", hear);
    process.on("uncaughtException", hear);
    try {
      for (const tried of SINKS) {
        const count = tried.records === true ? size.of(30, 5) : size.of(150, 20);
        await trials.each(tried.name, count, (trial) => sendTo(trial, tried));
      }
      for (const tried of CALLS) {
        await trials.each(tried.name, size.of(150, 20), (trial) => callAll(trial, tried));
      }
      const nothingLoose = async (trial: Trial) => {
        await sleep(200);
        trial.harm("unexpected", "nothing thrown beside a call", textOf(loose[0]), loose.length);
        trial.accept();
      };
      await trials.one("what reached nobody", nothingLoose, { chained: true });
    } finally {
      setUnclassifiedWarning();
      process.off("unhandledRejection", hear);
      process.off("uncaughtException", hear);
    }
  },
};

async function sendTo(trial: Trial, { audited = false, make, name }: SinkUnderTest): Promise<void> {
  const made = make();
  const { random } = trial;
  const runs = Array.from({ length: 3 }, () => new RunEvents(seededUuid(random), "acme"));
  for (let sent = 0; sent < SENDS; sent += 1) {
    const { envelope, event, mayReject, what } = drawSend(random.of(runs), random);
    let result: void | Promise<void>;
    try {
      result = sendAnything(made.sink, event, envelope);
    } catch (error) {
      trial.harm("unexpected", `${name}.send, ${what}: no throw`, textOf(error));
      continue;
    }
    trial.accept();
    try {
      await bounded(Promise.resolve(result), RESULT_MS, what);
    } catch (error) {
      // With an audit log a run's start and end may be refused, as the docs have it.
      if (audited && mayReject) continue;
      trial.harm("unexpected", `${name}.send, ${what}: no rejection`, textOf(error));
    }
  }
  await witness(trial, made, make());
  await bounded(Promise.resolve(made.sink.shutdown?.()), RESULT_MS, "shutdown").catch((error) => {
    if (!audited) trial.harm("unexpected", `${name}.shutdown: no rejection`, textOf(error));
  });
}

/** A run behind all that has the spans that it has in a sink that nothing was done to. */
async function witness(trial: Trial, tried: MadeSink, fresh: MadeSink): Promise<void> {
  if (tried.spansOf === undefined || fresh.spansOf === undefined) return;
  const run = new RunEvents(seededUuid(trial.random), "acme");
  const events = [
    run.started("witness"),
    run.toolStart("call_1"),
    run.toolComplete("call_1"),
    run.complete(),
  ];
  const ids = events.map(() => seededUuid(trial.random));
  for (const { sink } of [tried, fresh]) {
    for (const [at, event] of events.entries()) {
      const [event_id = ""] = ids.slice(at);
      await Promise.resolve(sink.send(event, { timestamp: second(200 + at), event_id })).catch(
        () => {},
      );
    }
  }
  const trace = run.run_id.replaceAll("-", "");
  const [found, expected] = [tried.spansOf(trace), fresh.spansOf(trace)];
  trial.equal("spans of a run in a fresh sink", expected.length, 2);
  const lost = expected.filter((span) => !found.includes(span));
  trial.harm("lost", `after hostile events: ${lost[0]}`, found.join("\n"), lost.length);
  trial.harm("doubled", "two spans", found.join("\n"), found.length - expected.length);
}

async function callAll(trial: Trial, { draw, name }: CallsUnderTest): Promise<void> {
  for (const { call, what } of draw(trial.random)) {
    try {
      await bounded(Promise.resolve(call()), RESULT_MS, what);
      trial.accept();
    } catch (error) {
      trial.harm("unexpected", `${name}, ${what}: no throw`, textOf(error));
    }
  }
}

/** What was thrown may be hostile itself. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.stack}` : String(thrown);
  } catch {
    return "something that can't be shown";
  }
}
