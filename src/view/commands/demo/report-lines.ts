import type { VerifyReport } from "../../../audit/door.ts";
import { shownUrl } from "../../../bridge/door.ts";
import {
  counted,
  cutToWidth,
  isLocal,
  jaegerTrace,
  type Output,
  padToWidth,
  type RunTally,
  safe,
} from "../../../cli/door.ts";
import { highest } from "../../../events/format/door.ts";
import type { Delivery, Destination } from "./demo-telemetry.ts";

// Lines about where everything went: the audit log, the receiver of spans, pages.

/** @param given whether the user named the directory: earlier rows may be in it. */
export function auditLines(
  directory: string,
  { ok, problemCount, rows, threads }: VerifyReport,
  given: boolean,
  out: Output,
): string[] {
  const word = asWord(directory);
  const held = `${counted(rows, "row")} in ${counted(threads, "thread")}`;
  const before = given ? ", including earlier rows" : "";
  const verdict = ok
    ? out.style("green", "✓ the chain holds")
    : out.style("red", `✗ ${counted(problemCount, "problem")} in the chain`);
  return [
    `${safe(directory)}: ${held}${before}. ${verdict}`,
    `  npx entelix-otel audit show ${word}`,
    `  npx entelix-otel audit verify ${word}`,
  ];
}

/** How many spans were made, and whether they arrived. */
export function sentLines(
  { calls, runs, spans }: RunTally,
  destination: Destination,
  delivery: Delivery,
  troubles: readonly string[],
  out: Output,
): string[] {
  const made = `${counted(spans, "span")} (${counted(runs, "run")}, ${counted(calls, "tool call")})`;
  const errors = troubles.map((trouble) => out.style("red", safe(trouble)));
  if (destination.to === "nowhere") {
    return [
      `${made}. Nothing was sent: ${safe(destination.because)}. With Jaeger on this machine:`,
      "  npx entelix-otel demo --endpoint http://127.0.0.1:4318",
      ...errors,
    ];
  }
  const { given, metrics, spansOnly, traces } = destination;
  const to = safe(shownUrl(traces));
  if (delivery.undelivered > 0) {
    const option = given === undefined ? "" : ` --endpoint ${safe(shownUrl(given))}`;
    const lost = `${counted(delivery.undelivered, "span")} of ${spans} could not be delivered to ${to}.`;
    return [
      out.style("red", lost),
      ...errors,
      `npx entelix-otel doctor${option} says more about the endpoint.`,
    ];
  }
  if (spansOnly) {
    const noMetrics = "It takes no metrics; the collector of docker-compose.yml does.";
    return [`${made} delivered to ${to}.`, noMetrics, ...errors];
  }
  const also =
    errors.length > 0 || metrics === undefined ? "" : `, metrics to ${safe(shownUrl(metrics))}`;
  return [`${made} delivered to ${to}${also}.`, ...errors];
}

interface TitledTrace {
  readonly title: string;
  readonly traceId: string;
}

/** Longest title of a trace, in columns. */
const MOST_TITLE = 60;

/** The address of each trace in Jaeger. */
export function addressLines(
  traces: readonly TitledTrace[],
  jaeger: string,
  out: Output,
): string[] {
  const titled = traces.map(({ title, traceId }) => ({
    title: cutToWidth(safe(title), MOST_TITLE),
    address: out.style("cyan", jaegerTrace(jaeger, traceId)),
  }));
  const width = highest(titled.map(({ title }) => title.length));
  return titled.map(({ address, title }) => `  ${padToWidth(title, width)}  ${address}`);
}

/** Pages of the stack of docker-compose.yml; none where it does not seem to run on this machine. */
export function pageLines(
  destination: Destination,
  jaeger: string | undefined,
  out: Output,
): string[] {
  if (destination.to === "nowhere" || destination.metrics === undefined) return [];
  if (!isLocal(destination.metrics) && (jaeger === undefined || !isLocal(jaeger))) return [];
  return [
    "In the stack of docker-compose.yml, within a minute:",
    `  dashboards  ${out.style("cyan", "http://127.0.0.1:3000")}`,
    `  metrics     ${out.style("cyan", "http://127.0.0.1:9090")}`,
    `  alerts      ${out.style("cyan", "http://127.0.0.1:9093")}`,
  ];
}

/** Quotes a file name for a shell, if necessary. */
export function asWord(name: string): string {
  return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${safe(name).replaceAll("'", "'\\''")}'`;
}
