// node hold-back.mjs TOPIC PARTITIONS: whoever reads only what is committed sees nothing of what is written to the
// topic from now on, until the standard input ends; then all of it at once. Prints `held` when that holds, and `free`
// when all is to be seen.
//
// A transaction is open meanwhile, with a line in each partition; its last lines are in the log behind everything, and
// so much later by their time that nothing before them waits to be put in order. They are of a type that nobody knows.
import { kafka, options } from "./client.mjs";

const [topic, partitions] = process.argv.slice(2);
/** In ms: how long the transaction may stay open, of the 15 min that a broker allows. */
const OPEN = 840_000;
/** Beyond the window in which lines are put in order, in ms. */
const LATER = 60_000;

const transactionalId = `hold-back-${topic}-${process.pid}`;
const producer = new kafka.Producer({
  ...options,
  timeout: OPEN,
  idempotent: true,
  transactionalId,
});
const transaction = await producer.beginTransaction();

async function mark(atMs) {
  const value = Buffer.from(
    JSON.stringify({ type: "bench_mark", timestamp: new Date(atMs).toISOString() }),
  );
  const headers = new Map([[Buffer.from("entelix-dialect"), Buffer.from("entelix")]]);
  const messages = Array.from({ length: Number(partitions) }, (_, partition) => {
    return { topic, partition, value, headers, timestamp: BigInt(atMs) };
  });
  await transaction.send({ messages, acks: -1 });
}

await mark(Date.now());
process.stdout.write("held\n");
for await (const _ of process.stdin);
await mark(Date.now() + LATER);
await transaction.commit();
process.stdout.write("free\n");
await producer.close();
