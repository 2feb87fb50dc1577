import { createHash } from "node:crypto";

const VERSION = 8;

/**
 * The run id of a run whose runtime has none: a UUID of version 8 made of the first 16 bytes of
 * SHA-256 over tenant, a zero byte, stream, a zero byte and the opening event's id. The same file
 * gives the same ids again, in any process.
 *
 * @param stream thread or session that the run belongs to; of a sub-agent its parent's stream and the
 *   ids of the spawning calls, joined by `/`.
 * @param opening id of the event that opens the run; without event ids the decimal ordinal, from 0,
 *   of the opening line in its stream.
 *
 * @example
 * derivedRunId("default", "thread-open-2", "5ee17f14-061e-4aa6-b3a4-e7d944624755");
 * // "dddd7502-9db2-883a-9f2a-3db87dae38d2"
 */
export function derivedRunId(tenant: string, stream: string, opening: string): string {
  const digest = createHash("sha256").update(`${tenant}\0${stream}\0${opening}`, "utf8").digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | (VERSION << 4), 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
