import { readdirSync } from "node:fs";
import { isJsonObject } from "../../../src/dialects/dialect.ts";
import { parseExact, stringifyExact } from "../../../src/entries/events.ts";
import { readLines } from "../../support/golden.ts";
import type { Random } from "../../support/random.ts";
import { seededUuid } from "./seeded-ids.ts";

export const DIALECTS = ["entelix", "agent-sdk", "defect", "graph"] as const;

export type DialectName = (typeof DIALECTS)[number];

/** The recorded and drawn lines of each dialect: every one is valid by itself. */
export function validLines(): Readonly<Record<DialectName, readonly string[]>> {
  const lines: Record<DialectName, string[]> = {
    entelix: [],
    "agent-sdk": [],
    defect: [],
    graph: [],
  };
  for (const folder of ["streams", "../recordings"]) {
    const names = readdirSync(new URL(`../../${folder}`, import.meta.url)).sort();
    for (const name of names.filter((each) => each.endsWith(".ndjson"))) {
      lines[dialectOf(name)].push(...readLines(`${folder}/${name}`));
    }
  }
  return lines;
}

/** The line with an event id that nothing else has, where it has one: else it would be a duplicate. */
export function withFreshId(line: string, random: Random): string {
  const value = parseExact(line);
  if (!isJsonObject(value) || value.event_id === undefined) return line;
  return stringifyExact({ ...value, event_id: seededUuid(random) });
}

function dialectOf(file: string): DialectName {
  if (file.startsWith("agent_sdk")) return "agent-sdk";
  if (file.startsWith("defect")) return "defect";
  return file.startsWith("graph") ? "graph" : "entelix";
}
