import { environmentWarnings, protocolChoice, shownUrl } from "../../bridge/door.ts";
import { exporterNames, switchedOff, withoutOtlp } from "../endpoints.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The SDK's warning of an invalid endpoint, which names no variable. */
const INVALID_ENDPOINT = /environment-provided export URL/;

/** Checks the `OTEL_*` variables, and lists those that are set. */
export async function checkEnvironment(env: Env): Promise<Finding[]> {
  const findings: Finding[] = [];
  const faulty = new Set<string>();
  for (const warning of await environmentWarnings()) {
    const variable = /OTEL_[A-Z_]+/.exec(warning)?.[0] ?? warning;
    // Setup and SDK may both warn of a variable. Endpoints have their own check.
    if (faulty.has(variable) || variable.endsWith("_ENDPOINT") || INVALID_ENDPOINT.test(warning))
      continue;
    faulty.add(variable);
    findings.push(problem(safe(warning), "Fix the variable, or unset it."));
  }
  for (const { applies, effect, fix, names } of RULES) {
    for (const name of names) {
      const value = env[name]?.trim();
      if (!value || faulty.has(name) || !applies(value)) continue;
      const what = `${name}=${safe(value)}: ${effect}`;
      findings.push(fix === undefined ? note(what) : problem(what, fix));
    }
  }
  if (switchedOff("traces", env) === undefined) findings.push(protocol());
  if (!faulty.has("OTEL_TRACES_SAMPLER")) findings.push(sampler(env));
  findings.push(service(env));
  const set = Object.keys(env)
    .filter((name) => name.startsWith("OTEL_") && env[name])
    .sort();
  for (const name of set) findings.push(note(`${safe(name)}=${shown(name, env[name] ?? "")}`));
  if (set.length === 0) findings.push(note("no OTEL_* variable is set: the defaults are used"));
  return findings;
}

/** Valid values with an unwanted effect. */
interface Rule {
  readonly names: readonly string[];
  readonly applies: (value: string) => boolean;
  readonly effect: string;
  /** What to do. Without it, the finding is a note. */
  readonly fix?: string;
}

const RULES: readonly Rule[] = [
  {
    names: ["OTEL_SDK_DISABLED"],
    applies: (value) => value.toLowerCase() === "true",
    effect: "no spans are made",
    fix: "Unset it to trace.",
  },
  {
    names: ["OTEL_TRACES_EXPORTER"],
    applies: (value) => exporterNames(value).includes("none"),
    effect: "spans go nowhere",
    fix: "Set it to otlp.",
  },
  {
    names: ["OTEL_LOG_LEVEL"],
    applies: (value) => value.toLowerCase() === "none",
    effect: "it also hides what this package says on standard error, such as lost spans",
  },
  {
    names: ["OTEL_METRICS_EXPORTER"],
    applies: withoutOtlp,
    effect: "no metrics are sent, failures are counted from spans alone",
  },
  {
    names: ["OTEL_METRIC_EXPORT_INTERVAL"],
    // With more, the collector counts a failure's spans before its event, and an alert fires twice.
    applies: (value) => Number(value) > 60_000,
    effect: "failures are reported late, and may be reported twice",
    fix: "Set it to 60000 ms or less, or unset it (15000).",
  },
  {
    names: ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"],
    applies: (value) => value.toLowerCase() !== "cumulative",
    effect: "alert rules and dashboards are only tested with cumulative",
  },
  {
    names: [
      "OTEL_EXPORTER_OTLP_TIMEOUT",
      "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
      "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
      "OTEL_BSP_EXPORT_TIMEOUT",
      "OTEL_METRIC_EXPORT_TIMEOUT",
    ],
    // Probably meant in seconds, the unit in SDKs of some other languages.
    applies: (value) => Number(value) > 0 && Number(value) < 100,
    effect: "it is in milliseconds, and longer requests are aborted",
    fix: "Set it to 100 or more, 10000 for ten seconds, or unset it.",
  },
];

/** The protocol of spans, and the variable that sets it. */
function protocol(): Finding {
  const { protocol, variable } = protocolChoice("TRACES");
  return ok(`spans are sent in ${protocol} (${variable ?? "the default"})`);
}

function sampler(env: Env): Finding {
  const name = env.OTEL_TRACES_SAMPLER?.trim().toLowerCase() || "parentbased_always_on";
  const argument = env.OTEL_TRACES_SAMPLER_ARG?.trim();
  const ratio = argument && name.endsWith("traceidratio") ? ` ${safe(argument)}` : "";
  const what = `sampler ${safe(name)}${ratio}`;
  if (name.endsWith("always_off")) {
    return problem(
      `${what}: traces that start here are not sampled`,
      "Set OTEL_TRACES_SAMPLER to parentbased_always_on or parentbased_traceidratio.",
    );
  }
  return name === "traceidratio"
    ? note(`${what}: it ignores the parent. Use parentbased_traceidratio to follow it.`)
    : ok(what);
}

function service(env: Env): Finding {
  const name = env.OTEL_SERVICE_NAME?.trim();
  if (name) return ok(`service ${safe(name)}`);
  const attributes = env.OTEL_RESOURCE_ATTRIBUTES ?? "";
  if (/(?:^|,)\s*service\.name=/.test(attributes)) {
    return ok("service named by OTEL_RESOURCE_ATTRIBUTES");
  }
  return note(
    "OTEL_SERVICE_NAME is not set: without a name in the setup, the service is unknown_service",
  );
}

/** The value without secrets: headers and URLs may contain some. */
function shown(name: string, value: string): string {
  if (name.endsWith("_HEADERS")) return "(hidden)";
  return safe(name.endsWith("_ENDPOINT") ? shownUrl(value) : value.slice(0, 200));
}
