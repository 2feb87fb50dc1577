import { isJsonObject, type JsonObject } from "../dialect.ts";

/**
 * Whether a line of a segment of our audit log is no row, but its header, the end of a write or an
 * archive mark. They hold no event, so that a replay passes them over.
 */
export function isControlLine(line: JsonObject): boolean {
  if (line.kind !== undefined || line.event !== undefined || line.type !== undefined) return false;
  const { archived, commit, hash, prev, rows, segment } = line;
  if (isJsonObject(archived)) return true;
  if (typeof segment === "number" && typeof prev === "string") return true;
  return typeof commit === "number" && typeof rows === "number" && typeof hash === "string";
}
