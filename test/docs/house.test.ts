import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readPage, section } from "./pages.ts";

interface Import {
  readonly file: string;
  readonly from: string;
  /** As the other file calls them. */
  readonly names: readonly string[];
}

const IMPORT = /^(?:import|export) (?:type )?([^;]*?) ?from "([^"]+)"|\bimport\("([^"]+)"\)/gms;

/** Every module of a folder, and what it imports, as written: also what is imported later. */
function importsIn(folder: string): readonly Import[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|mjs)$/.test(name) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .flatMap((file) =>
      [...readPage(file).matchAll(IMPORT)].map(([, names = "", from = "", later = ""]) => ({
        file,
        from: from || later,
        names: [...names.matchAll(/(?:^|[{,])\s*(?:type )?(\w+)/g)].map(([, name = ""]) => name),
      })),
    );
}

const imports = importsIn("src");

/** From the lowest to the highest. */
const rooms = section(readPage("CONTRIBUTING.md"), "The source")
  .split("\n")
  .flatMap((line) => /^\| `src\/([a-z]+)\/` /.exec(line)?.[1] ?? []);

/** The room of a path, and what stands over all rooms: -1 for what is not in `src`. */
function floorOf(path: string): number {
  // What says the version is the package's: every room may ask.
  if (path === "src/version.ts" || !path.startsWith("src/")) return -1;
  const room = rooms.indexOf(path.split("/")[1] ?? "");
  return room < 0 ? rooms.length : room;
}

/** The imports of files of this repository, with their paths. */
function inFiles(list: readonly Import[]) {
  return list
    .filter(({ from }) => from.startsWith("."))
    .map(({ file, from, names }) => ({ file, to: normalize(join(dirname(file), from)), names }));
}

const inside = inFiles(imports);

/**
 * Where a room is entered. What writes figures for people runs in browsers too, which have no Node: it has its own
 * door.
 */
const DOORS = [...rooms.map((room) => `src/${room}/door.ts`), "src/events/format/door.ts"];
/** Where other parts of a room enter a part of it. */
const PART_DOORS = ["bridge/lifecycle", "agents/writer", "agents/core", "agents/runtime"].map(
  (part) => `src/${part}/door.ts`,
);
/** Asked for when they are used, and so not through a door: they, or their doors, need optional packages. */
const LATER = [
  "src/audit/postgres/postgres-session-log.ts",
  "src/agents/prices/door.ts",
  "src/agents/prices/own-prices.ts",
];

const across = inside.filter(
  ({ file, to }) => floorOf(to) >= 0 && floorOf(to) < rooms.length && floorOf(to) !== floorOf(file),
);

describe("the rooms of the source", () => {
  it("are those of the table in CONTRIBUTING.md", () => {
    const folders = readdirSync(`${ROOT}/src`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "entries")
      .map(({ name }) => name);
    expect(rooms.toSorted()).toEqual(folders.toSorted());
    expect(rooms).toHaveLength(8);
  });

  it("import only what is below them", () => {
    expect(inside.length).toBeGreaterThan(3_000);
    const upward = inside.filter(({ file, to }) => floorOf(to) > floorOf(file));
    expect(upward.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
  });

  it("are entered by their doors", () => {
    expect(across.length).toBeGreaterThan(400);
    const others = across.filter(({ to }) => !DOORS.includes(to) && !LATER.includes(to));
    expect(others.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
  });

  it("have parts that are entered by their doors, too", () => {
    const within = inside.filter(({ file, to }) => {
      const door = PART_DOORS.find((each) => to.startsWith(`${dirname(each)}/`));
      return door !== undefined && to !== door && !file.startsWith(`${dirname(door)}/`);
    });
    expect(within.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
  });

  it.each([...DOORS, ...PART_DOORS])("%s has what others ask for, and nothing else", (door) => {
    const others = PART_DOORS.includes(door) ? inside : across;
    const asked = new Set(others.flatMap(({ names, to }) => (to === door ? names : [])));
    const has = imports.flatMap(({ file, names }) => (file === door ? names : []));
    expect(has.length).toBeGreaterThan(0);
    expect(has.toSorted()).toEqual([...asked].toSorted());
  });

  it("do not go through their own doors", () => {
    const own = inside.filter(
      ({ file, to }) => DOORS.includes(to) && floorOf(to) === floorOf(file),
    );
    expect(own.map(({ file }) => file)).toEqual([]);
  });

  it.each(rooms)("%s has a page of at most 60 lines, and what it names is there", (room) => {
    const page = readPage(`src/${room}/ROOM.md`);
    expect(page.split("\n").length).toBeLessThanOrEqual(60);
    const named = [...page.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(ROOT, "src", room, path)))).toEqual([]);
  });

  it("import no entry, and nothing imports the page", () => {
    const above = inside.filter(({ to }) => isEntry(to) || to.startsWith("src/view/page/"));
    expect(above.filter(({ file }) => !/^src\/(?:entries|view\/page)\//.test(file))).toEqual([]);
  });
});

/** These measure one part of the way out alone, which no other room needs. */
const ALONE = /^bench\/(?:export|export-equal|replay\/floor\.mjs)\b/;

describe("tests and benchmarks", () => {
  const used = inFiles([...importsIn("test"), ...importsIn("bench")]).filter(({ to }) => {
    return floorOf(to) >= 0 && floorOf(to) < rooms.length && !DOORS.includes(to);
  });

  it("import the inside of their own room alone; of others doors and entries", () => {
    expect(used.length).toBeGreaterThan(500);
    const others = used.filter(
      ({ file, to }) => !file.startsWith(`test/${rooms[floorOf(to)]}/`) && !ALONE.test(file),
    );
    expect(others.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
  });
});

describe("the entries of the package", () => {
  it("reach nothing of the page or of the commands", () => {
    const reached = new Set(["src/index.ts", ...inside.map(({ file }) => file)].filter(isEntry));
    for (const file of reached) {
      for (const { to } of inside.filter((each) => each.file === file)) reached.add(to);
    }
    expect(reached).toContain("src/bridge/bridge.ts");
    expect([...reached].filter((file) => /^src\/(?:cli|view)\//.test(file))).toEqual([]);
  });
});

function isEntry(file: string): boolean {
  return file === "src/index.ts" || file.startsWith("src/entries/");
}

describe("packages", () => {
  it("of OpenTelemetry are imported by src/bridge alone, and more than the API where spans leave it", () => {
    const found = imports.filter(({ from }) => from.startsWith("@opentelemetry/"));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ file }) => !file.startsWith("src/bridge/"))).toEqual([]);
    const leaving = /^src\/bridge\/(?:setup|output|stores|export)\//;
    const more = found.filter(({ from }) => from !== "@opentelemetry/api");
    expect(more.filter(({ file }) => !leaving.test(file))).toEqual([]);
  });

  it.each([
    [
      "beside Node are uuid",
      /^src\/(?!audit\/postgres\/|bridge\/|view\/page\/|cli\/traces\/otlp-protobuf|agents\/prices\/)/,
      /^uuid$/,
    ],
    ["are a list of prices", /^src\/agents\/prices\//, /^@pydantic\/genai-prices$/],
    ["are a reader of protobuf", /^src\/cli\/traces\/otlp-protobuf/, /^@bufbuild\/protobuf\/wire$/],
    ["are the client of PostgreSQL, asked for when it is used", /^src\/audit\/postgres\//, /^pg$/],
    [
      "are Preact, the layout of graphs and a parser of Markdown",
      /^src\/view\/page\//,
      /^(?:preact(?:\/hooks)?|@dagrejs\/dagre|mdast(?:-util-[a-z-]+)?|micromark-extension-gfm-[a-z-]+)$/,
    ],
  ])("%s in %s", (_, place, allowed) => {
    const found = imports.filter(
      ({ file, from }) => place.test(file) && !/^(?:\.|node:)/.test(from),
    );
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ from }) => !allowed.test(from))).toEqual([]);
  });

  it.each([
    ["bridge/lifecycle", /^node:crypto$/],
    ["events/signals", /^$/],
    ["events/ids", /^node:crypto$/],
    ["events/context", /^node:(?:buffer|async_hooks)$/],
    ["events/errors", /^$/],
  ])("are few in the pure folder src/%s", (folder, allowed) => {
    const found = imports.filter(
      ({ file, from }) => file.startsWith(`src/${folder}/`) && !from.startsWith("."),
    );
    expect(found.filter(({ from }) => !allowed.test(from))).toEqual([]);
  });
});
