import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { reachedFiles } from "../../scripts/reached-files.ts";
import { readPage } from "../docs/pages.ts";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/**
 * What the main entry may weigh, in KiB. Raised with a reason, or not at all: from 136 for steps, decisions, whose run
 * it is, requests, cost and exceptions (152), then for messages, their shortening and rows of starts, ends and
 * decisions (190), then for what people on call need: open runs, their progress, loops, degraded runs, fingerprints and
 * working time (210), then for bounded JSON of any value and the closed lists of words that a schema error may say
 * (232), then for keys of calls, usage of every end, message parts of more providers, checks of answers of the
 * application's functions, and names of unknown options, then for operations of models and runs, the usage in rows, and
 * the names of wide objects (244), then for the metrics of model calls under the present and the earlier names of the
 * conventions (247), then for OpenInference's names, the subject of a run on all its spans, and the log record of a model
 * call (257), then for notices of what is lost or ignored, and the place where an option belongs (263), then for images,
 * thoughts, results of several tools and embedded texts under OpenInference's names (265), then for reading nothing that
 * other code added to `Object.prototype`, and names of wrong arguments (270).
 */
const MOST = { minified: 270, gzip: 87 };

interface EntrySize {
  readonly minified: number;
  readonly gzip: number;
}

async function measured(): Promise<EntrySize> {
  const module = new URL("../../bench/entry-size/size.mjs", import.meta.url).href;
  const loaded: Readonly<Record<string, unknown>> = await import(module);
  const { entrySize } = loaded;
  if (typeof entrySize !== "function") throw new TypeError("entrySize: expected a function");
  const size: unknown = await entrySize();
  if (!isSize(size)) throw new TypeError("entrySize: expected bytes, minified and with gzip");
  return size;
}

function isSize(value: unknown): value is EntrySize {
  if (typeof value !== "object" || value === null) return false;
  if (!("minified" in value) || !("gzip" in value)) return false;
  return typeof value.minified === "number" && typeof value.gzip === "number";
}

/** Files that the main entry reaches, and packages that these import. */
function reached(): { files: string[]; packages: string[] } {
  const { files, packages } = reachedFiles(join(src, "index.ts"));
  const names = [...files].map((file) => relative(src, file).replaceAll("\\", "/"));
  return { files: names.sort(), packages: [...packages].sort() };
}

describe("the main entry", () => {
  let size: EntrySize;
  beforeAll(async () => {
    size = await measured();
  }, 60_000);

  it("weighs no more than it may", () => {
    expect(size.minified / 1024).toBeLessThanOrEqual(MOST.minified);
    expect(size.gzip / 1024).toBeLessThanOrEqual(MOST.gzip);
  });

  it("has the size on docs/benchmarks.md, or nearly: measure again with `node bench/entry-size.mjs --write`", () => {
    const row = /^\| KiB \| ([\d.]+) \| ([\d.]+) \|$/m.exec(readPage("docs/benchmarks.md"));
    const [minified, gzip] = (row ?? []).slice(1).map((kib) => Number(kib) * 1024);
    expect(Math.abs(size.minified / (minified ?? 0) - 1)).toBeLessThan(0.05);
    expect(Math.abs(size.gzip / (gzip ?? 0) - 1)).toBeLessThan(0.05);
  });

  it("is the whole of it that was weighed", () => {
    // A bundle that came out empty, or in parts, would be within every budget.
    expect(size.minified / 1024).toBeGreaterThan(MOST.minified * 0.75);
    expect(size.gzip).toBeLessThan(size.minified);
  });

  it("imports the API and Node, and nothing else", () => {
    const { packages } = reached();
    expect(packages.filter((name) => !name.startsWith("node:"))).toEqual(["@opentelemetry/api"]);
  });

  it("reaches nothing of the command, the services, the setup, or what has an entry of its own", () => {
    const { files } = reached();
    expect(files).toContain("bridge/bridge.ts");
    const apart =
      /^(cli|service|view|replay|agents|audit\/(ndjson|postgres|storage|verify)|bridge\/(setup|export|output|stores))\//;
    expect(files.filter((file) => apart.test(file))).toEqual([]);
  });
});
