// node time-slices.mjs SLICES MS PID…: time goes round in so many slices of so many ms; in each of them one process
// runs and the others stand still. A process has its slice alike whether it is the only one or one of many: so one core
// shows what each would do with a core of its own. All of them run again when the standard input ends.
import { setTimeout as sleep } from "node:timers/promises";

const [slices, ms, ...pids] = process.argv.slice(2).map(Number);
let over = false;
process.stdin.resume().once("end", () => {
  over = true;
});

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

for (const pid of pids) signal(pid, "SIGSTOP");
for (let slice = 0; !over; slice = (slice + 1) % slices) {
  const pid = pids[slice];
  if (pid !== undefined) signal(pid, "SIGCONT");
  await sleep(ms);
  if (pid !== undefined) signal(pid, "SIGSTOP");
}
for (const pid of pids) signal(pid, "SIGCONT");
