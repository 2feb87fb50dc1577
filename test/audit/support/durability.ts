import type { Durability } from "../../../src/audit/ndjson/ndjson-options.ts";

export function isDurability(value: string): value is Durability {
  return value === "none" || value === "batch" || value === "each";
}
