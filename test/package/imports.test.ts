import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** Each import of the sources that stands after the build: from where, and of what. */
const imports = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => {
    const text = readFileSync(join(src, file), "utf8");
    const { importedFiles } = ts.preProcessFile(text, true, true);
    return importedFiles.map(({ fileName }) => ({
      file: file.replaceAll("\\", "/"),
      of: fileName,
    }));
  });

const outside = (of: string) => !of.startsWith(".");

function from(folder: string) {
  return imports.filter(({ file }) => file.startsWith(folder));
}

describe("what may import what", () => {
  it("finds the imports", () => {
    expect(imports).toContainEqual({ file: "otel/span-port.ts", of: "./id-generator.ts" });
    expect(imports).toContainEqual({ file: "otel/id-generator.ts", of: "node:crypto" });
  });

  it("only src/otel imports OpenTelemetry", () => {
    const found = imports.filter(
      ({ file, of }) => of.startsWith("@opentelemetry/") && !file.startsWith("otel/"),
    );
    expect(found).toEqual([]);
  });

  it("only the setup and the command import more of it than its API", () => {
    const found = imports.filter(
      ({ file, of }) =>
        /^@opentelemetry\/(?!api$)/.test(of) &&
        !/^otel\/(setup|replay|service|export)\//.test(file),
    );
    expect(found).toEqual([]);
    const reaching = imports.filter(
      ({ file, of }) =>
        /\/(setup|replay|service|export)\//.test(of) &&
        !/^(otel\/(setup|replay|service|export)|service|view\/server|cli|entries|register)\//.test(
          file,
        ),
    );
    expect(reaching).toEqual([]);
  });

  it("uuid is the only other package, but for the client of PostgreSQL, asked for when it is used", () => {
    const found = imports.filter(
      ({ file, of }) =>
        outside(of) &&
        !/^(node:|@opentelemetry\/)/.test(of) &&
        of !== "uuid" &&
        !file.startsWith("view/page/"),
    );
    expect(found).toEqual([{ file: "audit/postgres/open-database.ts", of: "pg" }]);
  });

  it("src/lifecycle is pure: of Node it takes the hash function, and of us its own files and shared types", () => {
    const packages = from("lifecycle/").filter(({ of }) => outside(of));
    expect([...new Set(packages.map(({ of }) => of))]).toEqual(["node:crypto"]);
    const folders = from("lifecycle/").flatMap(({ of }) => /^\.\.\/([\w-]+)\//.exec(of)?.[1] ?? []);
    expect([...new Set(folders)].sort()).toEqual(["errors", "events", "tool-calls"]);
  });

  it("the page has its framework and the layout of graphs, and is nobody's import", () => {
    const packages = from("view/page/").filter(({ of }) => outside(of));
    expect(packages.map(({ of }) => of)).toContain("preact");
    expect(packages.filter(({ of }) => !/^(preact(\/hooks)?|@dagrejs\/dagre)$/.test(of))).toEqual(
      [],
    );
    const importers = imports.filter(
      ({ file, of }) => /\/page\//.test(of) && !file.startsWith("view/page/"),
    );
    expect(importers).toEqual([]);
  });

  it("no entry of the library reaches anything of view and report", () => {
    const reached = new Set(from("entries/").map(({ file }) => file));
    for (const file of reached) {
      for (const { of } of imports.filter((each) => each.file === file && !outside(each.of))) {
        reached.add(normalize(join(file, "..", of)).replaceAll("\\", "/"));
      }
    }
    expect(reached).toContain("otel/bridge.ts");
    expect([...reached].filter((file) => file.startsWith("view/"))).toEqual([]);
  });

  it("nothing but the command imports the command", () => {
    const found = imports.filter(({ file, of }) => /\/cli\//.test(of) && !file.startsWith("cli/"));
    expect(found).toEqual([]);
  });
});
