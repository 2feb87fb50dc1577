import { validateHeaderName, validateHeaderValue } from "node:http";
import { diag } from "@opentelemetry/api";
import { environmentText } from "./environment.ts";
import type { SignalName } from "./exporter-choice.ts";

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
