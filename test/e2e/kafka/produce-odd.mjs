// node produce-odd.mjs TOPIC SHAPE…: one batch each into partition 0, compressed by the client as a broker takes it.
//   runs:N               N runs of two events each
//   blanks:BYTES:CODEC   a record of so many blanks
//   tiny:N:CODEC         N records of one byte
//   key:BYTES:CODEC      a record whose key is so long
//   headers:N:CODEC      a record with so many headers
import { randomUUID } from "node:crypto";
import { kafka, options } from "./client.mjs";

const [topic, ...shapes] = process.argv.slice(2);
const producer = new kafka.Producer({ ...options, retries: 0, timeout: 60_000 });
const record = (value, more = {}) => ({ topic, partition: 0, value, ...more });

function runs(count) {
  return Array.from({ length: count }, () => {
    const id = randomUUID();
    const line = (sequence, type, more) =>
      record(
        Buffer.from(
          JSON.stringify({
            event_id: randomUUID(),
            sequence,
            timestamp: new Date(Date.now() - 60_000 + sequence).toISOString(),
            thread_id: `thread-${id}`,
            type,
            run_id: id,
            tenant_id: "acme",
            ...more,
          }),
        ),
        { key: Buffer.from(id) },
      );
    return [
      line(0, "started", { parent_run_id: null, agent: "react" }),
      line(1, "complete", { state: null }),
    ];
  }).flat();
}

const MAKE = {
  runs,
  blanks: (bytes) => [record(Buffer.alloc(bytes, 32))],
  tiny: (count) => Array.from({ length: count }, () => record(Buffer.from("x"))),
  key: (bytes) => [record(Buffer.from("x"), { key: Buffer.alloc(bytes, 107) })],
  headers: (count) => {
    const headers = new Map();
    for (let i = 0; i < count; i++) headers.set(Buffer.from(`h${i}`), Buffer.from("1"));
    return [record(Buffer.from("x"), { headers })];
  },
};

for (const shape of shapes) {
  const [kind, size, compression = "none"] = shape.split(":");
  await producer.send({ compression, messages: MAKE[kind](Number(size)), acks: -1 });
}
await producer.close();
