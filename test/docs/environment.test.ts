import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readPage } from "./pages.ts";

/** Codes of warnings and a table of the code, which look like variables. */
const OTHERS = new Set([
  "ENTELIX_UNCLASSIFIED",
  "ENTELIX_SINK_FAILED",
  "ENTELIX_UNKNOWN_OPTION",
  "ENTELIX_AFTER_SHUTDOWN",
  "ENTELIX_NO_PROVIDER",
  "ENTELIX_NO_TENANT",
  "ENTELIX_SAME_RUN",
  "ENTELIX_ERROR",
  "ENTELIX_EVENTS",
]);
/** What the SDK and the PostgreSQL client read by themselves, beside what the code names. */
const OF_OTHERS = new Set(["OTEL_EXPORTER_OTLP_COMPRESSION"]);

const VARIABLE = /\b(?:OTEL|ENTELIX)_[A-Z_]*[A-Z]\b/g;

const named = new Set(
  readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => readFileSync(join(ROOT, "src", name), "utf8").match(VARIABLE) ?? []),
);

/** A signal's own variable stands beside the general one. */
const general = (name: string) => name.replace(/OTLP_(?:TRACES|METRICS)_(?!TEMPORALITY)/, "OTLP_");

describe("docs/environment.md", () => {
  const shown = new Set(readPage("docs/environment.md").match(VARIABLE));

  it("has every variable that the code names", () => {
    const missing = [...named]
      .filter((name) => !OTHERS.has(name) && name !== "OTEL_METRICS")
      .filter((name) => !shown.has(general(name)));
    expect(missing).toEqual([]);
  });

  it("has no other variable than those, and what the SDK reads", () => {
    const strange = [...shown]
      .filter((name) => !name.includes("_SIGNAL_"))
      .filter((name) => !named.has(name) && !OF_OTHERS.has(name));
    expect(strange).toEqual([]);
  });
});

describe("docs/cli.md", () => {
  it("is what the built command says of itself: npm run build && npm run docs", () => {
    const script = join(ROOT, "scripts/generate-docs.mjs");
    const args = [script, "--print", "cli"];
    expect(readPage("docs/cli.md")).toBe(
      execFileSync(process.execPath, args, { encoding: "utf8" }),
    );
  });
});
