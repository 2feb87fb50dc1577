import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ROOT, readPage } from "./pages.ts";

/** Every module of the source, and what it imports, as written. */
const imports = readdirSync(`${ROOT}/src`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .flatMap((file) =>
    [...readPage(file).matchAll(/^(?:import|export) [^;]*?from "([^"]+)"/gms)].map(
      ([, from = ""]) => ({ file, from }),
    ),
  );

/** The imports of a folder's modules that `allowed` does not let pass. */
function others(folder: string, allowed: RegExp): string[] {
  return imports
    .filter(({ file, from }) => file.startsWith(folder) && !allowed.test(from))
    .map(({ file, from }) => `${file}: ${from}`);
}

describe("the house, as CONTRIBUTING.md has it", () => {
  it("sees imports", () => {
    expect(imports.length).toBeGreaterThan(500);
  });

  it("lets nothing but src/otel import OpenTelemetry", () => {
    const found = imports.filter(({ from }) => from.startsWith("@opentelemetry/"));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ file }) => !file.startsWith("src/otel/"))).toEqual([]);
  });

  it("needs only the API, uuid and Node outside setup, replay, the services and the command", () => {
    const allowed = /^(?:\.|node:|@opentelemetry\/api$|uuid$)/;
    expect(
      imports
        .filter(({ file }) => !/^src\/(?:otel\/(?:setup|replay|service|export)|cli)\//.test(file))
        .filter(({ from }) => !allowed.test(from)),
    ).toEqual([]);
  });

  it("keeps the lifecycle pure", () => {
    expect(others("src/lifecycle/", /^\.\/|^\.\.\/(?:errors|events)\/|^node:crypto$/)).toEqual([]);
  });

  it("keeps what is carried to other processes pure", () => {
    expect(others("src/context/", /^\.\/|^\.\.\/(?:errors|events)\/|^node:buffer$/)).toEqual([]);
  });

  it("lets sinks, the runtime and the adapters import what stands below them", () => {
    const sinks = /^\.\/|^\.\.\/(?:errors|events)\/|^node:|^uuid$/;
    expect(others("src/sinks/", sinks)).toEqual([]);
    const runtime = /^\.\/|^\.\.\/(?:context|errors|events|sinks)\/|^node:|^uuid$/;
    expect(others("src/runtime/", runtime)).toEqual([]);
    const adapters =
      /^\.\/|^\.\.\/[a-z-]+\.ts$|^node:|^(?:\.\.\/)+(?:errors|events|lifecycle|runtime|sinks)\//;
    expect(others("src/adapters/", adapters)).toEqual([]);
  });

  it("has errors at the bottom, and events above them", () => {
    expect(others("src/errors/", /^\.\//)).toEqual([]);
    expect(others("src/events/", /^\.\/|^\.\.\/errors\/|^node:/)).toEqual([]);
  });
});
