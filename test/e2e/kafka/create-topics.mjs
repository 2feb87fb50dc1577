// node create-topics.mjs TOPIC:PARTITIONS…: resolves when all of them have leaders.
import { setTimeout as sleep } from "node:timers/promises";
import { kafka, options } from "./client.mjs";

const admin = new kafka.Admin(options);
const wanted = process.argv.slice(2).map((text) => text.split(":"));
for (const [topic, partitions] of wanted) {
  await admin.createTopics({ topics: [topic], partitions: Number(partitions), replicas: 1 });
}
const topics = wanted.map(([topic]) => topic);
for (;;) {
  const metadata = await admin.metadata({ topics, forceUpdate: true }).catch(() => undefined);
  const led = topics.every((topic) =>
    metadata?.topics.get(topic)?.partitions.every(({ leader }) => leader >= 0),
  );
  if (led) break;
  await sleep(100);
}
await admin.close();
