import { environmentWarnings, protocolChoice } from "../../bridge/door.ts";
import { chosenExporters, switchedOff } from "../endpoints.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Attributes that a span of ours can have, those of an operator's hook left out. */
const FEWEST_ATTRIBUTES = 64;

/** The SDK's warning of an address that is none names no variable. */
const NO_ADDRESS = /environment-provided export URL/;

/** Looks at the variables that change what is traced. */
export async function checkEnvironment(env: Env): Promise<Finding[]> {
  const findings: Finding[] = [];
  const faulty = new Set<string>();
  for (const warning of await environmentWarnings()) {
    const variable = /OTEL_[A-Z_]+/.exec(warning)?.[0] ?? warning;
    // The SDK warns of some that the setup has warned of already; where an address leads, and whether
    // it is one, is looked at by itself.
    if (faulty.has(variable) || variable.endsWith("_ENDPOINT") || NO_ADDRESS.test(warning))
      continue;
    faulty.add(variable);
    findings.push(problem(safe(warning), "Mend the variable, or unset it."));
  }
  for (const check of [silent, limits, metrics, hurried]) {
    for (const finding of check(env)) findings.push(finding);
  }
  if (switchedOff("traces", env) === undefined) findings.push(protocol());
  if (!faulty.has("OTEL_TRACES_SAMPLER")) findings.push(sampler(env));
  findings.push(service(env));
  const set = Object.keys(env)
    .filter((name) => name.startsWith("OTEL_") && env[name])
    .sort();
  for (const name of set) findings.push(note(`${safe(name)}=${shown(name, env[name] ?? "")}`));
  if (set.length === 0) findings.push(note("no OTEL_* variable is set: the defaults hold"));
  return findings;
}

function silent(env: Env): Finding[] {
  const findings: Finding[] = [];
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") {
    findings.push(problem("OTEL_SDK_DISABLED=true: no spans are made", "Unset it to trace."));
  }
  const { names, said } = chosenExporters("traces", env);
  // Whatever else is named beside it.
  if (names.includes("none")) {
    findings.push(problem(`${safe(said)}: spans go nowhere`, "Set it to otlp."));
  }
  return findings;
}

/** More would let a failure's spans be counted before its event, and somebody be paged twice. */
const LONGEST_INTERVAL_MS = 60_000;

function metrics(env: Env): Finding[] {
  const findings: Finding[] = [];
  const off = switchedOff("metrics", env);
  if (off?.startsWith("OTEL_METRICS") === true) {
    findings.push(note(`${safe(off)}: no metrics are sent, failures are counted from spans alone`));
  }
  const interval = env.OTEL_METRIC_EXPORT_INTERVAL?.trim();
  if (interval && Number(interval) > LONGEST_INTERVAL_MS) {
    findings.push(
      problem(
        `OTEL_METRIC_EXPORT_INTERVAL=${safe(interval)}: failures are told of so late, and may be told twice`,
        `Set it to ${LONGEST_INTERVAL_MS} ms or less, or unset it (15000).`,
      ),
    );
  }
  const temporality = env.OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE?.trim();
  if (temporality && temporality.toLowerCase() !== "cumulative") {
    const what = `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=${safe(temporality)}`;
    findings.push(note(`${what}: the rules and dashboards were tried with cumulative sums only`));
  }
  return findings;
}

/** Times of a request that SDKs of other languages, or their readers, take for seconds. */
const REQUEST_TIMES = [
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
  "OTEL_BSP_EXPORT_TIMEOUT",
  "OTEL_METRIC_EXPORT_TIMEOUT",
];

/** Below it they are hardly meant in milliseconds: over a network few requests are answered by then. */
const SHORTEST_REQUEST_MS = 100;

function hurried(env: Env): Finding[] {
  return REQUEST_TIMES.flatMap((name) => {
    const text = env[name]?.trim();
    if (!text || !(Number(text) > 0 && Number(text) < SHORTEST_REQUEST_MS)) return [];
    return problem(
      `${name}=${safe(text)}: it is in milliseconds, and requests that take longer are given up`,
      `Set it to ${SHORTEST_REQUEST_MS} or more, 10000 for ten seconds, or unset it.`,
    );
  });
}

/** A run id has 36 characters, the hash of an audit row these. */
const LONGEST_OWN_VALUE = 64;

function limits(env: Env): Finding[] {
  return ["OTEL_SPAN_ATTRIBUTE_", "OTEL_ATTRIBUTE_"].flatMap((prefix) => [
    ...limit(
      env,
      `${prefix}COUNT_LIMIT`,
      FEWEST_ATTRIBUTES,
      "attributes that alerts need are cut off",
      "128",
    ),
    ...limit(
      env,
      `${prefix}VALUE_LENGTH_LIMIT`,
      LONGEST_OWN_VALUE,
      "run ids and the audit log's hashes are cut",
      "no limit",
    ),
  ]);
}

function limit(
  env: Env,
  name: string,
  least: number,
  consequence: string,
  byDefault: string,
): Finding[] {
  const text = env[name]?.trim();
  if (!text || !(Number(text) < least)) return [];
  const remedy = `Set it to ${least} or more, or unset it (${byDefault}).`;
  return [problem(`${name}=${safe(text)}: ${consequence}`, remedy)];
}

/** What spans are sent in, and who says so. */
function protocol(): Finding {
  const { protocol, variable } = protocolChoice("TRACES");
  const what = `spans are sent in ${protocol} (${variable ?? "the default"})`;
  return protocol === "http/protobuf"
    ? ok(what)
    : note(
        `${what}: by the SDK's queue, which a burst of more than 2,048 overflows`,
        "http/protobuf, the default, waits for the receiver and loses none.",
      );
}

function sampler(env: Env): Finding {
  const name = env.OTEL_TRACES_SAMPLER?.trim() || "parentbased_always_on";
  const argument = env.OTEL_TRACES_SAMPLER_ARG?.trim();
  const ratio = argument && name.endsWith("traceidratio") ? ` ${safe(argument)}` : "";
  if (name.endsWith("always_off")) {
    return problem(
      `sampler ${safe(name)}: no trace that begins here is kept`,
      "Set OTEL_TRACES_SAMPLER to parentbased_always_on or parentbased_traceidratio.",
    );
  }
  const what = `sampler ${safe(name)}${ratio}`;
  if (name === "traceidratio") {
    return note(
      `${what}: it decides for every span anew; parentbased_traceidratio follows the parent`,
    );
  }
  return ok(what);
}

function service(env: Env): Finding {
  const name = env.OTEL_SERVICE_NAME?.trim();
  if (name) return ok(`service ${safe(name)}`);
  const attributes = env.OTEL_RESOURCE_ATTRIBUTES ?? "";
  if (/(?:^|,)\s*service\.name=/.test(attributes)) {
    return ok("service named by OTEL_RESOURCE_ATTRIBUTES");
  }
  return note(
    "OTEL_SERVICE_NAME is not set: unless the setup names it, the service is unknown_service",
  );
}

/** Headers carry secrets, and an address may. */
function shown(name: string, value: string): string {
  if (name.endsWith("_HEADERS")) return "(hidden)";
  if (!name.endsWith("_ENDPOINT") || !URL.canParse(value)) return safe(value.slice(0, 200));
  const url = new URL(value);
  if (url.username === "" && url.password === "") return safe(value);
  url.username = "hidden";
  url.password = "";
  return safe(url.href);
}
