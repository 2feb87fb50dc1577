import { rm } from "node:fs/promises";
import { afterEach, describe } from "vitest";
import { MemorySessionLog } from "../../src/audit/memory-session-log.ts";
import { NdjsonSessionLog } from "../../src/audit/ndjson/ndjson-session-log.ts";
import type { SessionLog } from "../../src/audit/session-log.ts";
import { temporaryFolder } from "./support/entries.ts";
import { sessionLogContract } from "./support/session-log-contract.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function ndjson(durability: "none" | "batch" | "each"): Promise<SessionLog> {
  const folder = await temporaryFolder();
  const log = await NdjsonSessionLog.open(folder, { durability, eventIds: 4 });
  cleanUps.push(async () => {
    await log.close();
    await rm(folder, { recursive: true });
  });
  return log;
}

describe.each([
  ["MemorySessionLog", async () => new MemorySessionLog({ eventIds: 4 })],
  ["NdjsonSessionLog, durability none", () => ndjson("none")],
  ["NdjsonSessionLog, durability batch", () => ndjson("batch")],
  ["NdjsonSessionLog, durability each", () => ndjson("each")],
] as const)("%s", (_, make) => {
  sessionLogContract(make, "4");
});
