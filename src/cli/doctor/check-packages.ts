import { relative } from "node:path";
import { VERSION } from "../../version.ts";
import { safe } from "../terminal/safe-text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";
import type { Installed, InstalledPackage } from "./installed-packages.ts";

/** Of these one copy must do: two do not know of each other's spans, contexts or resources. */
const SHARED = [
  "@opentelemetry/api",
  "@opentelemetry/core",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "entelix-otel",
];

/** What `entelix-otel/setup` needs beside the API. */
const FOR_SETUP = [
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-node",
  "@opentelemetry/exporter-trace-otlp-http",
];

/** What `entelix-otel/telemetry` needs beside those. */
const FOR_METRICS = [
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/exporter-metrics-otlp-http",
] as const;

/** Whether what sends metrics is among the packages. */
export function canSendMetrics({ packages }: Installed): boolean {
  return FOR_METRICS.every((wanted) => packages.some(({ name }) => name === wanted));
}

/** Looks at the versions of Node and of the packages that were found below a directory. */
export function checkPackages(installed: Installed, directory: string): Finding[] {
  const findings = [checkNode(process.versions.node), ok(`entelix-otel ${VERSION} (this command)`)];
  const { cutShort, packages } = installed;
  if (packages.length === 0) {
    findings.push(note("packages: none of OpenTelemetry below this directory"));
    return findings;
  }
  const byName = grouped(packages);
  const single = [...byName].filter(([, copies]) => copies.length === 1);
  if (single.length > 0) {
    const list = single.map(([name, [found]]) => `${short(name)} ${found?.version}`).join(", ");
    findings.push(ok(`one copy each: ${safe(list)}`));
  }
  for (const [name, copies] of byName) {
    if (copies.length > 1) findings.push(checkCopies(name, copies, directory));
  }
  if (!byName.has("@opentelemetry/api")) {
    findings.push(
      problem("@opentelemetry/api is not installed", "npm install @opentelemetry/api@1.9.1"),
    );
  }
  findings.push(
    ...wouldNeed("entelix-otel/setup", FOR_SETUP, byName),
    ...wouldNeed("entelix-otel/telemetry (metrics)", FOR_METRICS, byName),
  );
  if (cutShort) {
    findings.push(note("packages: there is more below this directory than was looked at"));
  }
  return findings;
}

function wouldNeed(
  entry: string,
  names: readonly string[],
  found: ReadonlyMap<string, unknown>,
): Finding[] {
  const missing = names.filter((name) => !found.has(name));
  return missing.length === 0 ? [] : [note(`${entry} would need: ${missing.join(", ")}`)];
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok(`Node.js ${version}`);
  return problem(`Node.js ${version} is too old`, "Install 20.19 or newer.");
}

function checkCopies(
  name: string,
  copies: readonly InstalledPackage[],
  directory: string,
): Finding {
  const versions = [...new Set(copies.map(({ version }) => version))].sort();
  const places = copies.map(({ path }) => safe(relative(directory, path))).join(", ");
  const what = `${safe(name)}: ${copies.length} copies, ${safe(versions.join(" and "))} (${places})`;
  // Patches of one version differ no more than two copies of it do.
  const lines = new Set(versions.map((version) => version.split(".", 2).join(".")));
  if (!SHARED.includes(name) || lines.size === 1) return note(what);
  const trouble =
    name === "@opentelemetry/api"
      ? "spans made through one may not reach the other, without a word"
      : "they do not work together";
  return problem(
    `${what}: ${trouble}`,
    `npm ls ${safe(name)} shows who asks for which; have one version for all (npm: overrides).`,
  );
}

function short(name: string): string {
  return name.replace(/^@opentelemetry\//, "");
}

function grouped(packages: readonly InstalledPackage[]): Map<string, InstalledPackage[]> {
  const groups = new Map<string, InstalledPackage[]>();
  for (const found of [...packages].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const group = groups.get(found.name);
    if (group === undefined) groups.set(found.name, [found]);
    else group.push(found);
  }
  return groups;
}
