import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/version.ts";

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function read(file: string): Json {
  const url = new URL(`../../${file}`, import.meta.url);
  const value: unknown = JSON.parse(readFileSync(url, "utf8"));
  if (!isObject(value)) throw new TypeError(`${file}: expected an object`);
  return value;
}

function part(of: Json, field: string): Json {
  const value = of[field];
  if (!isObject(value)) throw new TypeError(`${field}: expected an object`);
  return value;
}

const manifest = read("package.json");

describe("package.json", () => {
  it("has the version that the code says it has", () => {
    expect(manifest.version).toBe(VERSION);
  });

  it("requires uuid, the API, and what requests through a proxy need", () => {
    expect(Object.keys(part(manifest, "dependencies"))).toEqual([
      "http-proxy-agent",
      "https-proxy-agent",
      "proxy-from-env",
      "uuid",
    ]);
    const optional = part(manifest, "peerDependenciesMeta");
    const required = Object.keys(part(manifest, "peerDependencies")).filter((name) => {
      const meta = optional[name];
      return !isObject(meta) || meta.optional !== true;
    });
    expect(required).toEqual(["@opentelemetry/api"]);
  });

  it("names the types of each subpath for compilers that read no exports", () => {
    const subpaths = Object.entries(part(manifest, "exports")).flatMap(([name, entry]) =>
      name === "." || !isObject(entry)
        ? []
        : [[name.replace("./", ""), [part(entry, "require").types]]],
    );
    expect(subpaths.length).toBe(17);
    expect(part(manifest, "typesVersions")).toEqual({ "*": Object.fromEntries(subpaths) });
  });

  it("pins what it is built and tested with to the digit", () => {
    const loose = Object.entries(part(manifest, "devDependencies")).filter(
      ([, range]) => typeof range !== "string" || !/^\d+\.\d+\.\d+$/.test(range),
    );
    expect(loose).toEqual([]);
  });
});

describe("package-lock.json", () => {
  const packages = Object.entries(part(read("package-lock.json"), "packages"))
    .filter(([path]) => path !== "")
    .map(([path, entry]) => ({ path, entry: isObject(entry) ? entry : {} }));

  it("names no address: npm ci asks the registry that is configured", () => {
    expect(packages.length).toBeGreaterThan(100);
    expect(packages.filter(({ entry }) => "resolved" in entry)).toEqual([]);
  });

  it("holds a version and a checksum of each package", () => {
    const bare = packages.filter(
      ({ entry }) => typeof entry.version !== "string" || typeof entry.integrity !== "string",
    );
    expect(bare.map(({ path }) => path)).toEqual([]);
  });
});
