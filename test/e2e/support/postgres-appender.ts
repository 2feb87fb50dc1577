import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresSessionLog } from "../../../src/entries/postgres.ts";
import { entry } from "../../audit/support/entries.ts";

/*
 * A writer of its own process: appends rows to one thread and says on stdout what is stored, one line
 * each, in the moment its append has resolved. What fails it appends again, until it is stored. With
 * `archives` it also archives each row.
 */

const [connection = "", schema = "", name = "", rows = "0", thread_id = "", mode = ""] =
  process.argv.slice(2);

const log = await PostgresSessionLog.open({ connection, schema });

async function store(n: number): Promise<void> {
  const event_id = `${name}-${n}`;
  for (;;) {
    try {
      const { hash, ordinal } = await log.append({ tenant_id: "acme", thread_id }, [
        entry(`${name} ${n}`, { event_id }),
      ]);
      // A pipe takes a line this short as a whole or not at all.
      writeSync(1, `${event_id} ${ordinal} ${hash}\n`);
      if (mode === "archives") await log.archiveBefore({ tenant_id: "acme", thread_id }, ordinal);
      return;
    } catch {
      await sleep(50);
    }
  }
}

writeSync(1, "open\n");
let next = 1;
/** Some at once, so that a batch has several calls. */
await Promise.all(
  Array.from({ length: 5 }, async () => {
    while (next <= Number(rows)) await store(next++);
  }),
);
await log.close();
