// NODE_OPTIONS=--import=…/profile-on-signal.mjs ENTELIX_PROFILE=FILE node …: SIGUSR2 begins a CPU profile of the
// program, and the next one ends it and writes it to the file. So what is measured can be profiled without the start
// before it.
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";

/** Between two samples, in µs. */
const EVERY = 500;

const file = process.env.ENTELIX_PROFILE;
const session = new Session();
let running = false;

process.on("SIGUSR2", () => {
  if (running) {
    session.post("Profiler.stop", (error, result) => {
      writeFileSync(`${file}.part`, JSON.stringify(error ?? result.profile));
      // Whoever waits for the file finds it whole.
      renameSync(`${file}.part`, file);
    });
  } else {
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.setSamplingInterval", { interval: EVERY });
    session.post("Profiler.start");
  }
  running = !running;
});
