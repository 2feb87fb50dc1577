import { describe, expect, it } from "vitest";
import { METRICS } from "../../../src/bridge/metrics/metric-names.ts";
import { EARLIER_NAMES, standingOf } from "../../../src/bridge/standing.ts";
import { ATTRIBUTES } from "../../../src/events/door.ts";
import { readPage, section, tableRows } from "../../docs/pages.ts";
import { ATTRIBUTE_FACTS, EVENT_FACTS, GENERAL_FACTS, METRIC_FACTS } from "./convention-facts.ts";

/** The names of log records. */
const RECORDS = tableRows(section(readPage("docs/attributes.md"), "Names of log records")).map(
  ([name = ""]) => name,
);

const PLACES = ["run", "call", "model", "step"];

/** Own attributes that differ from the conventions: an unknown name, another type, or a span that has none. */
function differingAttributes(): string[] {
  return Object.entries(ATTRIBUTES)
    .filter(([name]) => !name.startsWith("entelix."))
    .filter(([name, { on, type }]) => {
      if (!name.startsWith("gen_ai.")) return GENERAL_FACTS[name] !== type;
      const fact = ATTRIBUTE_FACTS[name];
      if (fact === undefined) return true;
      if (fact.type !== "any" && fact.type !== type) return true;
      const places: readonly string[] = fact.on;
      return on.split(", ").some((place) => PLACES.includes(place) && !places.includes(place));
    })
    .map(([name]) => name);
}

/** Own metrics that differ, and metrics of the conventions that are not recorded. */
function differingMetrics(): string[] {
  const own = Object.entries(METRICS).filter(([name]) => name.startsWith("gen_ai."));
  const differing = own.filter(([name, { attributes, kind, unit }]) => {
    const fact = METRIC_FACTS[name];
    const mine = { kind, unit, attributes: attributes.toSorted() };
    const theirs = fact && { ...fact, attributes: fact.attributes.toSorted() };
    return JSON.stringify(mine) !== JSON.stringify(theirs);
  });
  const missing = Object.keys(METRIC_FACTS).filter((name) => !Object.hasOwn(METRICS, name));
  return [...differing.map(([name]) => name), ...missing];
}

function differingEvents(): string[] {
  const own = RECORDS.filter((name) => name.startsWith("gen_ai."));
  const unknown = own.filter((name) => !EVENT_FACTS.includes(name));
  return [...unknown, ...EVENT_FACTS.filter((name) => !own.includes(name))];
}

describe("the names of the conventions", () => {
  it("are theirs, apart from those that docs/deviations.md lists with a reason", () => {
    const found = [...differingAttributes(), ...differingMetrics(), ...differingEvents()];
    const rows = tableRows(section(readPage("docs/deviations.md"), "Names of the conventions"));
    expect(rows.map(([name]) => name).toSorted()).toEqual(found.toSorted());
    for (const [name, difference = "", reason = ""] of rows) {
      expect([name, difference.length > 10, reason.length > 10]).toEqual([name, true, true]);
    }
  });

  it("have a standing, and names of this package have none", () => {
    const all = [...Object.keys(ATTRIBUTES), ...Object.keys(METRICS), ...RECORDS];
    for (const name of all) {
      const standing = standingOf(name);
      expect([name, standing === undefined]).toEqual([name, name.startsWith("entelix.")]);
    }
  });

  it("are emitted under each name before, too, where there is one", () => {
    const emitted = { ...ATTRIBUTES, ...METRICS };
    expect([...EARLIER_NAMES].filter((name) => !Object.hasOwn(emitted, name))).toEqual([]);
    expect(standingOf("gen_ai.client.inference.duration")).toEqual({
      source: "semantic-conventions-genai, main of 9 October 2026",
      state: "merged",
      change: "#521",
      before: ["gen_ai.client.operation.duration"],
    });
    expect(standingOf("error.type")?.source).toBe("semantic-conventions 1.44.0");
  });
});
