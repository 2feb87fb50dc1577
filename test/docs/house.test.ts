import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readPage, section } from "./pages.ts";

interface Import {
  readonly file: string;
  readonly from: string;
  readonly typesOnly: boolean;
}

/** Every module of the source, and what it imports, as written. */
const imports: readonly Import[] = readdirSync(`${ROOT}/src`, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .flatMap((file) =>
    [...readPage(file).matchAll(/^(?:import|export) (type )?([^;]*?) ?from "([^"]+)"/gms)].map(
      ([, type, names = "", from = ""]) => ({
        file,
        from,
        typesOnly:
          type !== undefined ||
          (/^\{[^}]+\}$/s.test(names) &&
            names
              .slice(1, -1)
              .split(",")
              .map((name) => name.trim())
              .every((name) => name === "" || name.startsWith("type "))),
      }),
    ),
  );

interface Row {
  readonly folder: string;
  /** Folders that may be imported, and whether only their types may; `all`: every one. */
  readonly allowed: ReadonlyMap<string, "types" | "all"> | "all";
}

const rows: readonly Row[] = section(readPage("CONTRIBUTING.md"), "The source")
  .split("\n")
  .filter((line) => line.startsWith("| `src/"))
  .map((line) => {
    const [, folder = "", , allowed = ""] = line.split(/ ?\| ?/);
    const names = [...allowed.matchAll(/(types of )?`([^`]+)`/g)].map(
      ([, types, name = ""]) => [name, types === undefined ? "all" : "types"] as const,
    );
    return {
      folder: folder.replace(/^`src\/(.*)\/`$/, "$1"),
      allowed: allowed.trim() === "all" ? "all" : new Map(names),
    };
  });

/** The row that a file belongs to: the longest folder that holds it. */
function rowOf(path: string): string | undefined {
  const holding = rows.filter(({ folder }) => path.startsWith(`src/${folder}/`));
  return holding.sort((a, b) => b.folder.length - a.folder.length)[0]?.folder;
}

/** What the folders import of each other. */
const used = imports.flatMap(({ file, from, typesOnly }) => {
  const of = rowOf(file);
  const to = from.startsWith(".") ? rowOf(normalize(join(dirname(file), from))) : undefined;
  return of === undefined || to === undefined || of === to ? [] : [{ file, of, to, typesOnly }];
});

describe("the table of the source in CONTRIBUTING.md", () => {
  it("has a row for every folder, and a folder for every row", () => {
    const folders = readdirSync(`${ROOT}/src`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.filter((name) => !rows.some(({ folder }) => folder === name))).toEqual([]);
    expect(rows.filter(({ folder }) => !existsSync(join(ROOT, "src", folder)))).toEqual([]);
    expect(used.length).toBeGreaterThan(500);
  });

  it.each(rows)("says what src/$folder imports, and no more", ({ allowed, folder }) => {
    if (allowed === "all") return expect(used.some(({ of }) => of === folder)).toBe(true);
    const own = used.filter(({ of }) => of === folder);
    const wrong = own.filter(({ to, typesOnly }) => {
      const what = allowed.get(to);
      return what === undefined || (what === "types" && !typesOnly);
    });
    expect(wrong.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
    const found = new Map([...new Set(own.map(({ to }) => to))].map((to) => [to, "types"]));
    for (const { to, typesOnly } of own) if (!typesOnly) found.set(to, "all");
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(allowed));
  });
});

describe("packages", () => {
  it("of OpenTelemetry are imported by src/otel alone", () => {
    const found = imports.filter(({ from }) => from.startsWith("@opentelemetry/"));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ file }) => !file.startsWith("src/otel/"))).toEqual([]);
  });

  it("are only the API, uuid and Node outside setup, replay, the services, the command and its page", () => {
    const allowed = /^(?:\.|node:|@opentelemetry\/api$|uuid$)/;
    expect(
      imports
        .filter(
          ({ file }) =>
            !/^src\/(?:otel\/(?:setup|replay|service|export)|cli|view\/page)\//.test(file),
        )
        .filter(({ from }) => !allowed.test(from)),
    ).toEqual([]);
  });

  it.each([
    ["lifecycle", /^node:crypto$/],
    ["context", /^node:buffer$/],
    ["errors", /^$/],
  ])("are few in the pure folder src/%s", (folder, allowed) => {
    const found = imports.filter(
      ({ file, from }) => rowOf(file) === folder && !from.startsWith("."),
    );
    expect(found.filter(({ from }) => !allowed.test(from))).toEqual([]);
  });
});
