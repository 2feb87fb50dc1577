import { relative } from "node:path";
import { VERSION } from "../../version.ts";
import { safe } from "../terminal/safe-text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";
import { type InstalledPackage, installedPackages } from "./installed-packages.ts";

/** Of these one copy must do: two do not know of each other's spans, contexts or resources. */
const SHARED = [
  "@opentelemetry/api",
  "@opentelemetry/core",
  "@opentelemetry/resources",
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

/** Looks at the versions of Node and of the packages below a directory. */
export async function checkPackages(directory: string): Promise<Finding[]> {
  const findings = [checkNode(process.versions.node), ok(`entelix-otel ${VERSION} (this command)`)];
  const { cutShort, packages } = await installedPackages(directory);
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
  const missing = FOR_SETUP.filter((name) => !byName.has(name));
  if (missing.length > 0) {
    findings.push(note(`entelix-otel/setup would need: ${missing.join(", ")}`));
  }
  if (cutShort) {
    findings.push(note("packages: there is more below this directory than was looked at"));
  }
  return findings;
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
  if (!SHARED.includes(name) || versions.length === 1) return note(what);
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
