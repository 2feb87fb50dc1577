import { validateHeaderName, validateHeaderValue } from "node:http";
import { diag } from "@opentelemetry/api";
import { environmentText, warnOfVariable } from "./environment-variables.ts";

/** An exporter that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` can name here. */
export type ExporterName = "otlp" | "console";

/** A signal in the names of its variables. */
export type SignalName = "TRACES" | "METRICS";

/**
 * The exporters that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` names, comma-separated; none
 * for `none`. Default, also when it names only unknown ones: `otlp`.
 */
export function exportersFromEnvironment(signal: SignalName): ReadonlySet<ExporterName> {
  const variable = `OTEL_${signal}_EXPORTER`;
  const text = environmentText(variable) ?? "otlp";
  const chosen = new Set<ExporterName>();
  const unknown: string[] = [];
  for (const part of text.split(",")) {
    const name = part.trim().toLowerCase();
    switch (name) {
      case "none":
        return new Set();
      case "otlp":
      case "console":
        chosen.add(name);
        break;
      default:
        unknown.push(name);
    }
  }
  if (chosen.size === 0) chosen.add("otlp");
  const taken = [...chosen].join(" and ");
  for (const name of unknown) warnOfVariable(variable, name, "otlp, console or none", taken);
  return chosen;
}

/** What a request can be written in here. */
export type Protocol = "http/json" | "http/protobuf";

/** What each signal can be sent in; the first is the default. */
const PROTOCOLS = {
  TRACES: ["http/protobuf", "http/json"],
  METRICS: ["http/json"],
} as const satisfies Record<SignalName, readonly Protocol[]>;

/** What a signal is sent in, and which variable says so. */
export interface ProtocolChoice {
  readonly protocol: Protocol;
  /** Absent for the default. */
  readonly variable: string | undefined;
}

/**
 * What `OTEL_EXPORTER_OTLP_[signal_]PROTOCOL` asks for. Default, also where it asks for what this setup
 * can't send: `http/protobuf` for traces, `http/json` for metrics.
 */
export function protocolFromEnvironment(signal: SignalName): Protocol {
  return protocolChoice(signal).protocol;
}

/** As {@link protocolFromEnvironment}, with where it comes from. */
export function protocolChoice(signal: SignalName): ProtocolChoice {
  const [byDefault] = PROTOCOLS[signal];
  const general = "OTEL_EXPORTER_OTLP_PROTOCOL";
  for (const variable of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, general]) {
    const asked = environmentText(variable);
    if (asked === undefined) continue;
    const protocol = PROTOCOLS[signal].find((known) => known === asked);
    if (protocol !== undefined) return { protocol, variable };
    // What suits the other signal is no mistake in the variable for both.
    if (
      variable !== general ||
      !Object.values(PROTOCOLS)
        .flat()
        .some((known) => known === asked)
    ) {
      warnOfVariable(variable, asked, PROTOCOLS[signal].join(" or "), byDefault);
    }
    break;
  }
  return { protocol: byDefault, variable: undefined };
}

const EXPECTED = "name=value pairs, comma-separated and percent-encoded";

/**
 * Warns of headers in the environment that the exporters' own code leaves out without a word, as
 * `Authorization: Bearer x` with its colon is, or with which no request can be made. Neither is shown: it
 * may be a secret.
 */
export function warnOfHeaders(signal: SignalName): void {
  for (const variable of ["OTEL_EXPORTER_OTLP_HEADERS", `OTEL_EXPORTER_OTLP_${signal}_HEADERS`]) {
    const pairs = environmentText(variable)?.split(",") ?? [];
    for (const [at, pair] of pairs.entries()) {
      const fault = pair.trim() === "" ? undefined : faultOf(pair);
      if (fault === undefined) continue;
      diag.warn(`entelix-otel: ${variable}: expected ${EXPECTED}; ${fault} pair ${at + 1}`);
    }
  }
}

/** What becomes of a pair that is none. */
function faultOf(pair: string): string | undefined {
  // What stands behind a semicolon is read as baggage's metadata.
  const [text = "", ...cut] = pair.split(";");
  const equals = text.indexOf("=");
  const [name, value] = [text.slice(0, Math.max(equals, 0)), text.slice(equals + 1)].map(decoded);
  if (!name || !value) return "left out is";
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    return "no request can carry";
  }
  return cut.length > 0 ? "cut at its semicolon is" : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
