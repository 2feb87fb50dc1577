import { type ManagerRow, SDK, SDK_2 } from "./manager-rows.ts";
import { pinnedVersion } from "./pinned-version.ts";
import type { SetupRow } from "./setup-rows.ts";
import { ALL, type Arrived } from "./telemetry-recorder.ts";

const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function table(first: string, lines: readonly string[]): string {
  const head = row(first, "tested with", "spans", "trace ID", "metrics", "content");
  return [head, row(...Array<string>(6).fill("---")), ...lines].join("\n");
}

const line = (title: string, versions: string, arrived: Arrived) =>
  row(title, versions, arrived.spans, arrived.traceId, arrived.metrics, arrived.content);

const setupLines = (rows: readonly SetupRow[]) =>
  rows.map(({ arrives, package: name, page, server, title }) =>
    line(`[${title}](${page})`, `${name} ${pinnedVersion(server, name)}`, arrives),
  );

const managerLines = (rows: readonly ManagerRow[]) =>
  rows.map(({ package: name, program, sdk, title }) => {
    const version = program === undefined ? "" : `${name} ${pinnedVersion(program.server, name)}, `;
    return line(title, `${version}SDK ${sdk}`, ALL);
  });

const command = (start: string, packages: readonly string[]) =>
  `\`\`\`sh\n${start} entelix-otel ${packages.slice(0, 2).join(" ")} \\\n  ${packages.slice(2).join(" ")}\n\`\`\``;

/** The page `docs/setups.md`. */
export function setupsPage(
  setups: readonly SetupRow[],
  runtimes: readonly SetupRow[],
  managed: readonly ManagerRow[],
): string {
  return `${[
    "# Setups, runtimes and package managers",
    `The end-to-end tests install the packed package beside each of these, run the program of its page, and compare what
arrives. Versions are those of the tests. Trace ID "run ID": the trace ID of a root run is its run ID. "random": the
setup chooses the ID, and the bridge warns once that it is not the run ID. Content is captured only if you
[turn it on](privacy.md).`,
    "## Beside a setup",
    "`npm install entelix-otel` changes nothing that is installed. Each page lists further packages.",
    table("setup", setupLines(setups)),
    `**Metrics "no"**: that setup takes no metrics of OpenTelemetry, or only with an option of its own. Pass a
\`meterProvider\` to the bridge to send them elsewhere.`,
    "## On a runtime",
    "With `setupTelemetry` and SDK 3:",
    table("runtime", setupLines(runtimes)),
    "## Inside HTTP requests",
    `In a web framework, a run starts while the span of a request is active. By default, the run has a trace of its own
with a link to the request, because the trace ID is then the run ID. With \`rootParent: "ambient"\`, an option of
\`new Bridge\` and \`createBridge\`, the run is a child of the request: one trace, whose ID is not the run ID.`,
    "## Package managers",
    table("package manager", managerLines(managed)),
    "npm takes the newest SDK that your Node supports. The others take the newest one, SDK 3, which needs Node 22.15:",
    command("pnpm add", SDK),
    "On an older Node, write the line of SDK 2:",
    command("pnpm add", SDK_2),
    `\`bun add\` takes the same packages. \`yarn add\` does, too, and needs \`@opentelemetry/api\` in addition: Yarn installs
no peers.`,
    "## If a package is missing",
    `With \`entelix-otel\` alone, an import of \`entelix-otel/setup\` or \`entelix-otel/telemetry\` fails, because both need an
SDK. Node says \`Cannot find package '@opentelemetry/sdk-metrics' imported from …/telemetry.mjs\`
(\`ERR_MODULE_NOT_FOUND\`; \`Cannot find module\` with \`require\`). Install the SDK:`,
    `\`\`\`sh\nnpm install ${SDK.join(" ")}\n\`\`\``,
    `If only \`sdk-metrics\` is missing, either install it, or use \`setupTracing\` of \`entelix-otel/setup\`. If your
application has a provider, you need neither entry: \`new Bridge()\` uses the registered one.`,
  ].join("\n\n")}\n`;
}
