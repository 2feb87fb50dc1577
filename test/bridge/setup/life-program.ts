import { setupTracing } from "../../../src/entries/setup.ts";
import { openRun, sendRun } from "./sample-run.ts";

/**
 * An application as `life-of-a-process.test.ts` runs it: it opens a run, and then ends in the way
 * that its argument says.
 */
const [way, endpoint = ""] = process.argv.slice(2);
const handleSignals = way !== "deaf";
const tracing = setupTracing({ endpoint, handleSignals, shutdownTimeoutMs: 10_000 });
const sink = tracing.createBridge();

switch (way) {
  case "wait":
  case "deaf":
    openRun(sink);
    setInterval(() => {}, 1000);
    break;
  case "own-listener":
    openRun(sink);
    process.on("SIGTERM", () => {
      process.stdout.write("heard\n");
      // Time for the signal to come a second time, if it were raised again.
      void tracing.shutdown().then(() => setTimeout(() => process.exit(7), 200));
    });
    setInterval(() => {}, 1000);
    break;
  case "impatient":
    openRun(sink);
    tracing.own({
      shutdown: () => {
        process.stdout.write("ready\n");
        return new Promise(() => {});
      },
    });
    setInterval(() => {}, 1000);
    break;
  case "forget":
    sendRun(sink);
    break;
  default:
    throw new Error(`no such way: ${way}`);
}
process.stdout.write("ready\n");
