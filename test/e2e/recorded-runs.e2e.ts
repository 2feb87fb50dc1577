import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatRfc3339 } from "../../src/events/door.ts";
import { type ExpectedNode, expectTrees } from "../bridge/spans/expected-tree.ts";
import { flat } from "../support/run-events.ts";
import { collectorCounter, SENT_TO_JAEGER } from "./support/collector-counter.ts";
import { drawnRecordings, fromNow } from "./support/drawn-recordings.ts";
import { traceOf } from "./support/drawn-trees.ts";
import { traceId } from "./support/fresh-ids.ts";
import { type Played, playLive } from "./support/player.ts";
import type { Recording } from "./support/recording.ts";
import { replay } from "./support/replay.ts";
import { Stack } from "./support/stack.ts";
import { treesOf } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

const SERVICE = "e2e-agent";
const INSTANCE = "pod-1";

const all = drawnRecordings();
const roots = all.flatMap(({ trees }) => trees);
const traces = [...new Set(roots.map(traceOf))];
const spanCount = drawnSpans(roots).length;

function drawnSpans(nodes: readonly ExpectedNode[]): ExpectedNode[] {
  return nodes.flatMap((node) => [node, ...drawnSpans(node.children)]);
}

/** The traces in which a span has this attribute, as drawn, by its value. */
function tracesBy(attribute: string): Map<string, string[]> {
  const traces = new Map<string, Set<string>>();
  for (const root of roots) {
    for (const { attributes } of drawnSpans([root])) {
      const value = attributes[attribute];
      if (value === undefined) continue;
      const found = traces.get(String(value)) ?? new Set();
      traces.set(String(value), found.add(traceOf(root)));
    }
  }
  return new Map([...traces].map(([value, ids]) => [value, [...ids].sort()]));
}

/** The traces of each tenant, by the events that were sent. */
function tracesOfTenants(): Map<string, string[]> {
  const runs = new Map<string, Set<string>>();
  for (const { recording } of all) {
    for (const { text } of recording.lines) {
      const [, tenant = ""] = /"tenant_id":"([^"]+)"/.exec(text) ?? [];
      const [, run = ""] = /"run_id":"([^"]+)"/.exec(text) ?? [];
      runs.set(tenant, (runs.get(tenant) ?? new Set()).add(run));
    }
  }
  const traceOfRun = new Map<string, string>();
  for (const root of roots) {
    for (const { run } of drawnSpans([root])) traceOfRun.set(run, traceOf(root));
  }
  return new Map(
    [...runs].map(([tenant, ids]) => {
      const traces = [...ids].map((run) => traceOfRun.get(run) ?? traceId(run));
      return [tenant, [...new Set(traces)].sort()];
    }),
  );
}

const STORAGES = ["disk", "memory"] as const;
const WAYS = ["sent live", "sent live, live again by another process, and replayed"] as const;

describe.each(STORAGES.flatMap((storage) => WAYS.map((way) => ({ storage, way }))))(
  "recorded streams, $way, Jaeger on $storage:",
  ({ storage, way }) => {
    let stack: Stack;
    let recordings: Recording[];
    const played: Played[] = [];

    /** In an agent's process of its own. */
    const live = () =>
      playLive(recordings, {
        options: {
          serviceName: SERVICE,
          endpoint: stack.endpoint,
          resourceAttributes: { "service.instance.id": INSTANCE },
        },
      });

    /** Resolves when so many spans in all have come through the collector into Jaeger. */
    const stored = (spans: number) =>
      untilHolds("the spans are in Jaeger", async () => {
        expect(await collectorCounter(stack, SENT_TO_JAEGER)).toBe(spans);
      });

    beforeAll(async () => {
      stack = await Stack.start({ servers: ["jaeger", "collector"], jaegerStorage: storage });
      recordings = fromNow(all);
      played.push(await live());
      await stored(spanCount);
      if (way === "sent live") return;
      played.push(await live());
      await stored(spanCount * 2);
      // A replay's spans are those of the live run when it is told the same of the service.
      const [span] = await stack.jaeger.trace(traceId(all[0]?.trees[0]?.run ?? ""));
      const resource = Object.entries(span?.resource ?? {}).map((pair) => pair.join("="));
      await replay(recordings, stack, SERVICE, { OTEL_RESOURCE_ATTRIBUTES: resource.join(",") });
      await stored(spanCount * 3);
    });
    afterAll(() => stack?.stop());

    it("all spans were delivered", () => {
      const events = recordings.flatMap(({ lines }) => lines).length;
      for (const one of played) {
        expect(one).toMatchObject({
          errors: [],
          events,
          spans: { exported: spanCount, failed: 0, dropped: 0, pending: 0 },
        });
      }
    });

    it.each(all.map(({ recording, trees }) => [recording.name, trees] as const))(
      "%s is found by its run ids, as it was drawn, each span once",
      async (_, trees) => {
        for (const id of new Set(trees.map(traceOf))) {
          const spans = await stack.jaeger.trace(id);
          expectTrees(
            treesOf(spans),
            trees.filter((root) => traceOf(root) === id),
          );
        }
      },
    );

    it("runs have the times of their events", async () => {
      const ends = new Map<string, string[]>();
      for (const { at, text } of recordings.flatMap(({ lines }) => lines)) {
        const [, run = ""] = /"run_id":"([^"]+)"/.exec(text) ?? [];
        const [start = formatRfc3339(at)] = ends.get(run) ?? [];
        ends.set(run, [start, formatRfc3339(at)]);
      }
      for (const id of traces) {
        for (const node of flat(treesOf(await stack.jaeger.trace(id)))) {
          if (!node.span.startsWith("invoke_agent")) continue;
          expect([node.start, node.end]).toEqual(ends.get(String(node.run)));
        }
      }
    });

    it("they belong to the agent's service", async () => {
      expect(await stack.jaeger.services()).toEqual([SERVICE]);
      for (const id of traces) {
        for (const { resource } of await stack.jaeger.trace(id)) {
          expect(resource).toMatchObject({
            "service.name": SERVICE,
            "service.instance.id": INSTANCE,
          });
        }
      }
    });

    it.each([...tracesBy("entelix.failure.kind")])(
      "a search for the failure kind %s finds its traces and no other",
      async (kind, found) => {
        const tags = { "entelix.failure.kind": kind };
        expect(await stack.jaeger.search({ service: SERVICE, tags })).toEqual(found);
      },
    );

    it.each([...tracesOfTenants()])(
      "a search for the tenant %s finds its traces and no other",
      async (tenant, found) => {
        const tags = { "entelix.tenant_id": tenant };
        expect(await stack.jaeger.search({ service: SERVICE, tags })).toEqual(found);
      },
    );
  },
);
