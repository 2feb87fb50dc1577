// npm run build && node bench/serve-cost.mjs [EVENTS] [--profile]: what an event costs `serve` in CPU, from its request
// until its spans and rows are stored, and how many it takes a second; by requests of several sizes, without and with
// an audit log. Wants a quiet machine. Nothing is asserted.
//
// Whole runs of 8 entelix events and 4 spans, sent over 4 connections as fast as they are acknowledged. Each round is a
// service and a journal of its own, which first works off others, so that it is warm.
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CpuProfile } from "../support/cpu-profile.ts";
import { cpuSeconds, machineSeconds, mainThreadSeconds } from "../support/cpu-time.ts";
import { portOf } from "../support/free-ports.ts";
import { type Look, middleRate } from "../support/middle-rate.ts";
import { ServeProcess } from "../support/serve-process.ts";
import { wholeRuns } from "../support/serve-runs.ts";
import { sendLines } from "../support/serve-sender.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** The last round alone, without and with audit log, and where its CPU goes. */
    profile: { type: "boolean", default: false },
  },
});

const EVENTS = Number(positionals[0] ?? 200_000);
/** Of {@link wholeRuns}. */
const EVENTS_A_RUN = 8;
const RUNS = Math.ceil(EVENTS / EVENTS_A_RUN);
const WARMING = Math.max(500, Math.round(RUNS / 4));
const SENDERS = 4;
/** Runs in a request: 8, 96 and 512 lines. */
const SIZES = values.profile ? [64] : [1, 12, 64];
/** Between two looks at the service, in ms. */
const LOOK_MS = 250;

// Takes spans and looks at none, so that it costs little of what is measured.
const receiver = createServer((request, response) => {
  request.resume().once("end", () => {
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
try {
  for (const size of SIZES) await measure(size, false);
  await measure(SIZES.at(-1) ?? 1, true);
} finally {
  receiver.closeAllConnections();
  receiver.close();
}

async function measure(size: number, audit: boolean): Promise<void> {
  let profile: CpuProfile | undefined;
  await using serve = await ServeProcess.start(async (folder) => {
    if (values.profile) {
      profile = new CpuProfile(`${folder}/serve`);
      // The service inherits this process's environment.
      Object.assign(process.env, profile.env);
    }
    return {
      args: [
        ...["--endpoint", `http://127.0.0.1:${portOf(receiver)}`, "--service-name", "agents"],
        ...["--max-backlog", "16GiB", ...(audit ? ["--audit", `${folder}/audit`] : [])],
      ],
    };
  });
  const warm = await send(serve.url, bodies(WARMING, size));
  await worked(serve, 0, warm);
  const load = bodies(RUNS, size);
  await profile?.begin(serve.pid);
  const before = await cpuTimes(serve);
  const begun = performance.now();
  let acknowledgedMs = 0;
  const sent = send(serve.url, load).then((lines) => {
    acknowledgedMs = performance.now() - begun;
    return lines;
  });
  const looks = await worked(serve, warm, RUNS * EVENTS_A_RUN);
  const lines = await sent;
  const after = await cpuTimes(serve);
  const seconds = ((looks.at(-1)?.ms ?? begun) - begun) / 1000;
  const cpu = {
    workers: after.process - before.process,
    mainThreads: after.mainThread - before.mainThread,
  };
  const own = after.own - before.own;
  const others = after.machine - before.machine - cpu.workers - own;
  const each = (cpuS: number) => `${((cpuS / lines) * 1e6).toFixed(1)} µs`;
  const cores = (cpuS: number) => (cpuS / seconds).toFixed(2);
  console.log(
    [
      `${size * EVENTS_A_RUN} lines a request${audit ? ", audit log in a directory" : ""}`,
      `: ${each(cpu.workers)} of CPU an event (${each(cpu.mainThreads)} in the main thread)`,
      `; ${middleRate(looks).toFixed(0)} events/s played`,
      `; all ${lines} acknowledged in ${(acknowledgedMs / 1000).toFixed(1)} s`,
      `, played and stored in ${seconds.toFixed(1)} s`,
      `; cores busy: ${cores(after.machine - before.machine)} of ${availableParallelism()}`,
      `, ${cores(others)} with nothing of this, ${cores(own)} with senders and receiver`,
    ].join(""),
  );
  if (profile !== undefined) console.log(await profile.end(serve.pid, cpu, lines));
}

function bodies(runs: number, size: number): readonly (readonly string[])[] {
  const all = wholeRuns(runs, "acme");
  return Array.from({ length: Math.ceil(runs / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size).flat(),
  );
}

/** @returns how many lines were acknowledged: all. */
async function send(url: string, all: readonly (readonly string[])[]): Promise<number> {
  let next = 0;
  let taken = 0;
  const sender = async () => {
    for (let lines = all[next++]; lines !== undefined; lines = all[next++]) {
      const { code, results, status } = await sendLines(url, lines);
      const refused = results.find((result) => result.status !== "accepted");
      if (status !== 200 || refused !== undefined || results.length !== lines.length) {
        throw new Error(`status ${status} ${code}: ${JSON.stringify(refused)}`);
      }
      taken += lines.length;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return taken;
}

/** Looks at a service until it has played so many lines after the first ones, and has stored what came of them. */
async function worked(serve: ServeProcess, first: number, lines: number): Promise<readonly Look[]> {
  const looks: Look[] = [];
  for (;;) {
    const done = (await serve.metric("entelix_ingest_processor_lines_total")) - first;
    looks.push({ ms: performance.now(), done });
    const stored = (await serve.metric("entelix_ingest_in_flight")) === 0;
    if (done >= lines && stored) return looks;
    await sleep(LOOK_MS);
  }
}

async function cpuTimes({ pid }: ServeProcess) {
  const { system, user } = process.cpuUsage();
  return {
    process: await cpuSeconds(pid),
    mainThread: await mainThreadSeconds(pid),
    own: (user + system) / 1e6,
    machine: await machineSeconds(),
  };
}
