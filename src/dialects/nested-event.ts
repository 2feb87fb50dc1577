import { isJsonObject, type JsonObject } from "./dialect.ts";

/** The event of a line: what is nested in it as `event`, where it has no `type`, else the line itself. */
export function eventIn(line: JsonObject): JsonObject {
  return line.type === undefined && isJsonObject(line.event) ? line.event : line;
}
