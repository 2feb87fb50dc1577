import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { field, list, text } from "./json-shape.ts";

/** Where a program's time goes, as in the table of `docs/benchmarks.md`. */
export type Area = (typeof AREAS)[number][0] | typeof GC | typeof LOOP | typeof NATIVE;

const GC = "garbage collection, in the main thread";
const LOOP = "Node: sockets, timers, promises";
const NATIVE = "outside JavaScript: system calls, libraries";

/** The first that fits a source's path says its area. What fits none (exact JSON, say) is its caller's. */
const AREAS = [
  [
    "audit rows",
    /src\/(audit|sinks)\/|log-processor\/(processor-log|thread-append-queue)|run-rows|audit-rows|turn-rows|\/pg[\w-]*\//,
  ],
  [
    "decode: JSON and its checks",
    /src\/dialects\/.*(dialect|events|decode-line|lines?|row-reader|log-row|envelope|content)\.ts|src\/events\/(object-)?forms\.ts|src\/ingest\/(decode-line|ndjson)|log-processor\/(decode-log-line|long-names)|kafka\/record-lines/,
  ],
  [
    "mapping and lifecycle",
    /src\/(dialects|lifecycle|runtimes)\/|src\/otel\/(bridge|signal-player)\.ts/,
  ],
  ["journal and HTTP", /src\/(ingest\/journal|service\/http)\//],
  [
    "log processor: order, positions",
    /src\/(service\/log-processor|ingest)\/|src\/otel\/service\/(replay-filter|store-flow)/,
  ],
  [
    "OTLP: encode and send",
    /@opentelemetry\/(otlp-|exporter-)|src\/otel\/service\/(span-exports|span-store)|src\/otel\/export\/|src\/otel\/replay\/(otlp-|span-outlet)|src\/service\/open-stores/,
  ],
  ["spans", /@opentelemetry\/|src\/otel\//],
  [
    "Kafka: client, batches, partitions",
    /src\/service\/kafka\/|@platformatic\/|node_modules\/(@node-rs|fastq|mnemonist)\//,
  ],
  ["the command and its figures", /src\/(cli|service)\//],
] as const;

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly line: number;
}

interface Row {
  readonly area: Area;
  /** Of the samples that were taken while the program did something. */
  readonly share: number;
  /** The functions that took most, with their shares. */
  readonly most: readonly (readonly [string, number])[];
}

/**
 * Sums a CPU profile by area: each sample is that of the function it was taken in, or of the nearest caller
 * that has one.
 *
 * @param profile as the inspector makes it, parsed, of a program that was bundled with its regions named.
 */
export function areasOf(profile: unknown): readonly Row[] {
  const regions = new Regions();
  const nodes = new Map<number, { readonly frame: Frame; readonly self: number }>();
  const parents = new Map<number, number>();
  for (const node of list(profile, "nodes")) {
    const call = field(node, "callFrame");
    const id = Number(field(node, "id"));
    const frame = {
      functionName: text(call, "functionName"),
      url: text(call, "url"),
      line: Number(field(call, "lineNumber")),
    };
    nodes.set(id, { frame, self: Number(field(node, "hitCount")) });
    for (const child of list(node, "children")) parents.set(Number(child), id);
  }
  const sums = new Map<Area, Map<string, number>>();
  let all = 0;
  for (const [id, { frame, self }] of nodes) {
    if (self === 0 || frame.functionName === "(idle)") continue;
    all += self;
    const area = areaAt(id);
    const functions = sums.get(area) ?? new Map<string, number>();
    sums.set(area, functions);
    const name = `${frame.functionName || "(anonymous)"} ${regions.of(frame).replace(/^.*\//, "")}`;
    functions.set(name, (functions.get(name) ?? 0) + self);
  }
  const rows = [...sums].map(([area, functions]): Row => {
    const most = [...functions].sort(([, a], [, b]) => b - a).slice(0, 4);
    const share = [...functions.values()].reduce((sum, self) => sum + self, 0) / all;
    return { area, share, most: most.map(([name, self]) => [name.trim(), self / all]) };
  });
  return rows.sort((a, b) => b.share - a.share);

  function areaAt(id: number): Area {
    const name = nodes.get(id)?.frame.functionName;
    if (name === "(garbage collector)") return GC;
    if (name === "(program)") return NATIVE;
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.frame;
      const source = frame === undefined ? "" : regions.of(frame);
      const found = AREAS.find(([, sources]) => sources.test(source));
      if (found !== undefined) return found[0];
    }
    return LOOP;
  }
}

/**
 * Which source a line of a bundle is of, by the comments that the bundler leaves. It leaves none for some
 * small modules: they count as the one before them.
 */
class Regions {
  readonly #files = new Map<string, readonly (string | undefined)[]>();

  of({ line, url }: Frame): string {
    if (!url.startsWith("file:")) return url;
    let lines = this.#files.get(url);
    if (lines === undefined) {
      let region: string | undefined;
      lines = readFileSync(fileURLToPath(url), "utf8")
        .split("\n")
        .map((text) => {
          if (text.startsWith("//#endregion")) region = undefined;
          else if (text.startsWith("//#region ")) region = text.slice("//#region ".length);
          return region;
        });
      this.#files.set(url, lines);
    }
    return lines[line] ?? url;
  }
}
