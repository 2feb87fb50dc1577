// node produce.mjs TOPIC [RECORDS_A_SECOND] < records: one record a line, as JSON with `key`, `value` (text) or
// `base64` (bytes) or neither (no value), and `headers`. Prints how many the brokers have acknowledged.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { kafka, options } from "./client.mjs";

const [topic, rate] = process.argv.slice(2);
const AT_ONCE = 500;
const producer = new kafka.Producer(options);
const began = performance.now();
let sent = 0;
let waiting = [];

async function send() {
  const messages = waiting;
  waiting = [];
  await producer.send({ messages, acks: -1 });
  sent += messages.length;
  const due = rate === undefined ? 0 : (sent / Number(rate)) * 1000;
  const early = due - (performance.now() - began);
  if (early > 0) await sleep(early);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { key, value, base64, headers } = JSON.parse(line);
  waiting.push({
    topic,
    key: key === undefined ? undefined : Buffer.from(key),
    value: base64 === undefined ? value && Buffer.from(value) : Buffer.from(base64, "base64"),
    headers: new Map(
      Object.entries(headers ?? {}).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
    ),
  });
  if (waiting.length >= AT_ONCE) await send();
}
if (waiting.length > 0) await send();
await producer.close();
console.log(sent);
