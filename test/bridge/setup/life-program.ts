import { setImmediate } from "node:timers/promises";
import { setupTracing } from "../../../src/entries/setup.ts";
import { setupTelemetry } from "../../../src/entries/telemetry.ts";
import { openRun, sendRun } from "./sample-run.ts";

/**
 * An application as `life-of-a-process.test.ts` runs it: it opens a run, and then ends in the way
 * that its argument says.
 */
const [way = "", endpoint = "", setup = "tracing"] = process.argv.slice(2);
const options = {
  endpoint,
  handleSignals: way !== "deaf",
  handleErrors: /^(throw|reject|twice|own-errors|idle-error)$/.test(way),
  shutdownTimeoutMs: way === "done" ? 1_000 : 10_000,
};
const tracing = setup === "telemetry" ? setupTelemetry(options) : setupTracing(options);
const sink = tracing.createBridge();
/** Throws outside of any promise. */
const later = (error: Error) =>
  void setTimeout(() => {
    throw error;
  });
const stay = () => void setInterval(() => {}, 1000);

switch (way) {
  case "wait":
  case "deaf":
    openRun(sink);
    stay();
    break;
  case "own-listener":
    openRun(sink);
    process.on("SIGTERM", () => {
      process.stdout.write("heard\n");
      // Time for the signal to come a second time, if it were raised again.
      void tracing.shutdown().then(() => setTimeout(() => process.exit(7), 200));
    });
    stay();
    break;
  case "once":
    openRun(sink);
    process.once("SIGTERM", () => {
      process.stdout.write("heard\n");
      // Its own work takes longer than the spans.
      void tracing.shutdown().then(() => setTimeout(() => process.exit(7), 200));
    });
    stay();
    break;
  case "two": {
    // A second setup, whose spans take longer.
    const slow = setupTracing({ ...options, register: false });
    slow.own({ shutdown: () => new Promise((resolve) => setTimeout(resolve, 300)) });
    openRun(slow.createBridge());
    stay();
    break;
  }
  case "impatient":
    openRun(sink);
    tracing.own({
      shutdown: () => {
        process.stdout.write("ready\n");
        return new Promise(() => {});
      },
    });
    stay();
    break;
  case "forget":
    sendRun(sink);
    break;
  case "forget-open":
    openRun(sink);
    break;
  case "forget-last":
    sendRun(sink);
    process.once("beforeExit", async () => {
      await setImmediate();
      sendRun(sink, "018f3c7a-0000-7000-8000-00000000002b");
    });
    break;
  case "idle-signal":
  case "idle-error":
    openRun(sink);
    tracing.own({
      shutdown: () => {
        if (way === "idle-error") later(new Error("no such order"));
        else process.kill(process.pid, "SIGTERM");
        // The end comes before this.
        return new Promise((resolve) => setTimeout(resolve, 200));
      },
    });
    break;
  case "exit-open":
    openRun(sink);
    process.exit(4);
    break;
  case "exit":
    sendRun(sink);
    process.exit(4);
    break;
  case "throw":
  case "crash":
    openRun(sink);
    stay();
    later(new Error("no such order"));
    break;
  case "reject":
    openRun(sink);
    stay();
    void Promise.reject(new Error("no such order"));
    break;
  case "twice":
    openRun(sink);
    stay();
    tracing.own({
      shutdown: () => {
        later(new Error("the second"));
        return new Promise(() => {});
      },
    });
    later(new Error("the first"));
    break;
  case "own-errors":
    openRun(sink);
    process.on("uncaughtException", () => {
      process.stdout.write("heard\n");
      void tracing.shutdown().then(() => process.exit(9));
    });
    later(new Error("no such order"));
    stay();
    break;
  case "done": {
    sendRun(sink);
    await tracing.shutdown();
    // Closed sockets are gone after a few turns.
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    const holding = process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|File/.test(name));
    process.stdout.write(`holds: ${holding.join()}\n`, () => process.exit());
    break;
  }
  default:
    throw new Error(`no such way: ${way}`);
}
process.stdout.write("ready\n");
