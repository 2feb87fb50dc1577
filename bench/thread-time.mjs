// CPU time of the main thread, where the agent's code runs, in us. Node 20 has none to ask for
// (`process.threadCpuUsage` came with 23.9), so on Linux the kernel is asked; elsewhere it is the time that the
// event loop was not idle, which a busy machine stretches.
import { openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";

const file = `/proc/self/task/${process.pid}/schedstat`;
const bytes = Buffer.alloc(128);
const nap = new Int32Array(new SharedArrayBuffer(4));

function kernels() {
  let stat;
  try {
    stat = openSync(file, "r");
  } catch {
    return undefined;
  }
  return () => {
    // The kernel books a thread's time when it stops running, or some ms late: let it stop.
    Atomics.wait(nap, 0, 0, 0.01);
    const read = readSync(stat, bytes, 0, bytes.length, 0);
    return Number(bytes.latin1Slice(0, read).split(" ")[0]) / 1000;
  };
}

const fromKernel = process.platform === "linux" ? kernels() : undefined;

export const THREAD_CLOCK = fromKernel === undefined ? "event loop, not idle" : "thread CPU";

export const threadTime = fromKernel ?? (() => performance.eventLoopUtilization().active * 1000);
