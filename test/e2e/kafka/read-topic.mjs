// node read-topic.mjs TOPIC: prints every record that the topic has now, as JSON lines.
import { kafka, options } from "./client.mjs";

const [topic] = process.argv.slice(2);
const groupId = `read-${topic}-${process.pid}`;
const consumer = new kafka.Consumer({ ...options, groupId });
const ends = (await consumer.listOffsets({ topics: [topic] })).get(topic);
let left = ends.reduce((sum, end) => sum + Number(end), 0);
if (left > 0) {
  const mode = kafka.MessagesStreamModes.EARLIEST;
  const stream = await consumer.consume({ topics: [topic], mode, autocommit: false });
  for await (const { key, value, headers, partition, offset } of stream) {
    const named = [...headers].map(([name, text]) => [String(name), text && String(text)]);
    console.log(
      JSON.stringify({
        key: key && String(key),
        base64: value?.toString("base64"),
        headers: Object.fromEntries(named),
        partition,
        offset: Number(offset),
      }),
    );
    left--;
    if (left <= 0) break;
  }
}
await consumer.close(true);
