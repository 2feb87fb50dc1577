import { writeSync } from "node:fs";
import { NdjsonSessionLog } from "../../../src/audit/ndjson/ndjson-session-log.ts";
import { isDurability } from "./durability.ts";
import { entry } from "./entries.ts";

/*
 * A writer to be killed: appends to some threads at once for ever, and says on stdout what is stored,
 * one line each, in the moment its append has resolved.
 */

const [folder = "", durability = "", name = ""] = process.argv.slice(2);
if (!isDurability(durability)) throw new Error(`no durability: ${durability}`);

function say(line: string): void {
  // A pipe takes a line this short as a whole or not at all.
  writeSync(1, `${line}\n`);
}

say("begin");
const log = await NdjsonSessionLog.open(folder, { durability, segmentBytes: 64 * 1024 });
say("open");

async function write(thread_id: string): Promise<never> {
  for (let n = 1; ; n += 1) {
    const event_id = `${name}-${thread_id}-${n}`;
    // A large one takes several writes, between which the end may come.
    const isLarge = n % 6 === 0;
    const padding = "x".repeat(isLarge ? 700_000 : (n * 37) % 400);
    if (isLarge) say("large");
    const { hash, ordinal } = await log.append({ tenant_id: "acme", thread_id }, [
      entry(padding, { event_id }),
    ]);
    say(`stored ${thread_id} ${ordinal} ${hash} ${event_id}`);
    if (ordinal % 20 === 0) await log.archiveBefore({ tenant_id: "acme", thread_id }, ordinal - 10);
  }
}

await Promise.all(["t1", "t2", "t3"].map(write));
