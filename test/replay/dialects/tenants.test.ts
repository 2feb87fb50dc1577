import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LineEnvelope } from "../../../src/replay/dialects/dialect.ts";
import type { Translated } from "../../../src/replay/dialects/mapping.ts";
import { DecodedLine, parseLine } from "../../../src/replay/input/decode-line.ts";
import { type AnyRuntime, type RecordedEvent, RUNTIMES } from "../../../src/replay/runtimes.ts";
import { readLines } from "../../support/golden.ts";
import { runs } from "../../support/runs.ts";

/** Streams of each runtime whose events a mapping reads. */
const STREAMS: Readonly<Record<string, readonly string[]>> = {
  "agent-sdk": ["agent_sdk_cut_streams"],
  defect: ["defect_lost_spawn"],
  graph: [
    "graph_endings",
    "graph_entelix_05",
    "graph_own_log",
    "graph_sub_agents",
    "graph_turns",
    "graph_upstream",
  ],
};

interface Line {
  readonly event: RecordedEvent;
  readonly envelope: LineEnvelope;
}

function linesOf({ dialect }: AnyRuntime, stream: string): Line[] {
  return readLines(`streams/${stream}.ndjson`).flatMap((text, index) => {
    const { value } = parseLine(text);
    const decoded = value && dialect.decode(value);
    if (decoded?.outcome !== "event") return [];
    const { envelope, event } = new DecodedLine(decoded, dialect, index + 1, text);
    return [{ event, envelope }];
  });
}

/** The lines of a tenant; from the `named`th on they name no thread and no session. */
function ofTenant(tenant: string, lines: readonly Line[], named: number): Line[] {
  return lines.map(({ envelope, event }, index) => {
    const { thread_id, session_id, ...rest } = envelope;
    const name = {
      ...(thread_id === undefined ? {} : { thread_id }),
      ...(session_id === undefined ? {} : { session_id }),
    };
    return {
      event,
      envelope: { ...rest, ...(index < named ? name : {}), tenant_id: tenant },
    };
  });
}

/** What a mapping makes of the lines, with what only their end tells. */
function translated({ mapping }: AnyRuntime, lines: readonly Line[]): Translated[] {
  const made = mapping?.("default", true);
  if (made === undefined) throw new Error("expected a runtime with a mapping");
  const all = lines.map(({ event, envelope }) => made.translate(event, envelope));
  return [...all, ...made.end()];
}

/** Two lists in one, each in its own order. */
function interleaved<T>(one: readonly T[], other: readonly T[], turns: readonly boolean[]): T[] {
  const [first, second] = [[...one], [...other]];
  const merged: T[] = [];
  for (let n = 0; first.length + second.length > 0; n++) {
    const next = (turns[n % turns.length] === true ? first : second).shift();
    if (next !== undefined) merged.push(next);
    else merged.push(...first.splice(0), ...second.splice(0));
  }
  return merged;
}

const MAPPED = RUNTIMES.filter(({ mapping }) => mapping !== undefined);

describe.each(MAPPED.map((runtime) => [runtime.dialect.name, runtime] as const))(
  "%s lines of two tenants",
  (name, runtime) => {
    const streams = (STREAMS[name] ?? []).map((stream) => linesOf(runtime, stream));

    it("are there", () => {
      expect(streams.length).toBeGreaterThan(0);
      expect(streams.every((lines) => lines.length > 4)).toBe(true);
    });

    it("are read as each tenant's alone, whatever threads and sessions they name, or none", () => {
      const lines = fc.constantFrom(...streams);
      const named = fc.integer({ min: 0, max: 8 });
      const turns = fc.array(fc.boolean(), { minLength: 2, maxLength: 12 });
      fc.assert(
        fc.property(lines, named, lines, named, turns, (one, first, other, second, order) => {
          const tenants = [ofTenant("acme", one, first), ofTenant("beta", other, second)] as const;
          const together = translated(runtime, interleaved(...tenants, order));
          for (const [at, tenant] of ["acme", "beta"].entries()) {
            const alone = translated(runtime, tenants[at] ?? []);
            expect(together.filter(({ tenantId }) => tenantId === tenant)).toEqual(alone);
          }
        }),
        { numRuns: runs(200) },
      );
    });
  },
);
