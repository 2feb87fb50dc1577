import { readdirSync } from "node:fs";
import { parseExact, stringifyExact } from "../../../src/entries/events.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readLines } from "../../support/golden.ts";
import type { Random } from "../../support/random.ts";
import { seededUuid } from "./seeded-ids.ts";

export const DIALECTS = ["entelix", "agent-sdk", "defect", "graph"] as const;

export type DialectName = (typeof DIALECTS)[number];

/** The recorded and drawn lines of each dialect: every one is valid by itself. */
export function validLines(): Readonly<Record<DialectName, readonly string[]>> {
  return {
    entelix: streamsOf("entelix").flat(),
    "agent-sdk": streamsOf("agent-sdk").flat(),
    defect: streamsOf("defect").flat(),
    graph: streamsOf("graph").flat(),
  };
}

/** The recorded and drawn streams of a dialect, file by file. */
export function streamsOf(dialect: DialectName): readonly (readonly string[])[] {
  return ["streams", "../recordings"].flatMap((folder) =>
    readdirSync(new URL(`../../${folder}`, import.meta.url))
      .sort()
      .filter((name) => name.endsWith(".ndjson") && dialectOf(name) === dialect)
      .map((name) => readLines(`${folder}/${name}`)),
  );
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
