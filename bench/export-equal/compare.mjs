// compare SPANS SEED: draws batches of spans until there were so many, and compares the bytes of each.
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { Chunk } from "../../src/bridge/export/chunk.ts";
import { Random } from "../../test/support/random.ts";
import { drawBatch } from "./batch.mjs";
import { Coverage } from "./coverage.mjs";
import { printDifference } from "./difference.mjs";

const [wanted, seed] = process.argv.slice(2).map(Number);
const PATIENCE_MS = 10_000;
const TOLD_EVERY = 100_000;
/** Fewer need not have drawn everything. */
const ENOUGH = 100_000;

const coverage = new Coverage();
const seeds = new Random(seed);
// One for all: what is left in its buffer by one request must not be seen in the next.
const chunk = new Chunk();
let compared = 0;
let bytes = 0;

console.log(`seed ${seed}`);
for (let batch = 0; compared < wanted; batch++) {
  const drawn = drawBatch(seeds.below(2 ** 32));
  const { taken, ours } = await oursOf(drawn);
  for (const resource of new Set(taken.map((span) => span.resource))) {
    await resource.waitForAsyncAttributes?.();
  }
  const stock = stockOf(taken);
  if (Buffer.compare(ours, stock) !== 0) {
    console.error(`batch ${batch} of seed ${seed}: not equal`);
    printDifference(ours, stock);
    process.exit(1);
  }
  coverage.add(taken, drawn);
  const before = compared;
  compared += taken.length;
  bytes += ours.length;
  if (Math.floor(before / TOLD_EVERY) < Math.floor(compared / TOLD_EVERY)) {
    console.log(`${compared} spans equal`);
  }
}
const megabytes = Math.round(bytes / 2 ** 20);
console.log(`equal byte for byte: ${compared} spans, ${megabytes} MB, seed ${seed}`);
console.table(coverage.counts());
const missing = coverage.missing();
if (compared >= ENOUGH && missing.length > 0) {
  console.error(`never drawn: ${missing.join(", ")}`);
  process.exit(1);
}

/** @returns the bytes, and the spans in them. */
async function oursOf({ spans, most }) {
  const taken = spans.filter((span) => chunk.add(span, most));
  const sealed = chunk.seal(PATIENCE_MS);
  if (sealed.spans !== taken.length) throw new Error(`${sealed.spans} spans, not ${taken.length}`);
  if (sealed.size > most) throw new Error(`${sealed.size} bytes, more than ${most}`);
  const ours = await sealed.bytes;
  // What was still to come is not in the size.
  if (!(sealed.bytes instanceof Promise) && ours.length > sealed.size) {
    throw new Error(`${ours.length} bytes, more than it says, ${sealed.size}`);
  }
  return { ours, taken };
}

function stockOf(spans) {
  const bytes = ProtobufTraceSerializer.serializeRequest(spans);
  if (bytes === undefined) throw new Error("the stock serializer gave nothing");
  return bytes;
}
