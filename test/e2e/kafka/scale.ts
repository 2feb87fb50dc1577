// npm run build && node bench/scale.mjs [EVENTS]: how a topic's events are worked
// off by one, two and three workers on this machine, as ratios, and the CPU that each event takes. Wants a quiet
// machine. Nothing is asserted.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { portOf } from "../support/free-ports.ts";
import { KafkaBroker } from "../support/kafka-broker.ts";
import { KafkaGroup } from "../support/kafka-group.ts";
import { installedCommand } from "../support/kafka-package.ts";
import { KafkaWorkload } from "../support/kafka-workload.ts";

const events = Number(process.argv[2] ?? 200_000);
const PARTITIONS = 6;
/** The kernel's clock ticks a second, as Linux tells CPU times. */
const TICKS = 100;

const broker = await KafkaBroker.start();
/** Nothing is answered before it: so no worker is far ahead when the last one has its partitions. */
let gate: Promise<void> = Promise.resolve();
// Takes spans and looks at none, so that it costs little of what is measured.
const receiver = createServer((request, response) => {
  request.resume().once("end", async () => {
    await gate;
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
try {
  const command = await installedCommand(join(broker.folder, "installed"), broker.installed.client);
  await broker.createTopics(`events:${PARTITIONS}`, "dead:1");
  const workload = new KafkaWorkload({ events, seed: 1, beginMs: Date.now() - 3_500_000 });
  await broker.produce("events", workload.all());
  console.log(`${workload.events} events of ${workload.streams} streams, ${PARTITIONS} partitions`);
  let alone: number | undefined;
  for (const workers of [1, 2, 3]) {
    let openGate = () => {};
    gate = new Promise((resolve) => {
      openGate = resolve;
    });
    const group = await KafkaGroup.start(workers, {
      name: `scale-${workers}`,
      broker,
      command,
      args: [
        ...["--topic", "events", "--group", `scale-${workers}`, "--dead-letter", "dead"],
        // What moves between workers at the start is not read twice.
        ...["--lookback", "0", "--run-age", "20", "--service-name", "agents"],
        ...["--endpoint", `http://127.0.0.1:${portOf(receiver)}`],
      ],
    });
    const pids = group.workers.map(({ pid }) => pid);
    const cpu = async () => {
      const all = await Promise.all(pids.map(cpuSeconds));
      return all.reduce((sum, each) => sum + each, 0);
    };
    // Measured from when all partitions are somebody's.
    let left = await group.behind(PARTITIONS);
    while (left === undefined) left = await group.behind(PARTITIONS);
    const [began, before, brokerBefore] = [
      performance.now(),
      await cpu(),
      await cpuSeconds(broker.server.pid),
    ];
    openGate();
    while ((await group.behind(PARTITIONS)) !== 0) await sleep(100);
    const rate = left / ((performance.now() - began) / 1000);
    const each = (seconds: number) => `${((seconds / (left ?? 1)) * 1e6).toFixed(0)} µs`;
    const [own, brokers] = [await cpu(), await cpuSeconds(broker.server.pid)];
    await group.kill();
    alone ??= rate;
    console.log(
      `${workers} worker${workers > 1 ? "s" : ""}: ${rate.toFixed(0)} records/s of ${left}, ` +
        `${(rate / alone).toFixed(2)} times one; CPU a record: ${each(own - before)} in workers, ` +
        `${each(brokers - brokerBefore)} in the broker`,
    );
  }
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await broker.stop();
}

async function cpuSeconds(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may have blanks in it.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS;
}
