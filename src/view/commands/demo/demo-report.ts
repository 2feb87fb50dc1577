import type { VerifyReport } from "../../../audit/door.ts";
import { attributeText, type FinishedSpan, shownUrl } from "../../../bridge/door.ts";
import {
  counted,
  failureTable,
  jaegerTrace,
  type Output,
  RunTally,
  safe,
  traceHeading,
  traceLines,
} from "../../../cli/door.ts";
import type { AgentEvent } from "../../../events/door.ts";
import type { Delivery, Destination, Page } from "./demo-telemetry.ts";
import { originOf } from "./live-view.ts";
import { BUNDLED_RECORDINGS } from "./recordings.ts";

/** What is known when the demo is over. */
interface DemoResult {
  readonly verified: VerifyReport;
  /** Of the audit log. */
  readonly directory: string;
  /** Whether the user named it: then there may be rows of before in it. */
  readonly given: boolean;
  readonly jaeger: string;
  readonly destination: Destination;
  readonly delivery: Delivery;
  /** Where to look beside Jaeger. */
  readonly pages: readonly Page[];
  /** Whether the page of the runs is opened next. */
  readonly view: boolean;
}

/** Collects what the demo made, and prints it at the end. */
export class DemoReport {
  readonly #tally = new RunTally();
  readonly #traces = new Map<string, FinishedSpan[]>();
  readonly #recordingOfRun = new Map<string, number>();
  readonly #troubles: string[] = [];

  add(span: FinishedSpan): void {
    this.#tally.add(span);
    const spans = this.#traces.get(span.traceId);
    if (spans === undefined) this.#traces.set(span.traceId, [span]);
    else spans.push(span);
  }

  /** Remembers which recording a run is of, so that its trace can be named. */
  belongsTo(event: AgentEvent, recording: number): void {
    this.#recordingOfRun.set(event.run_id, recording);
  }

  addTrouble(trouble: string): void {
    this.#troubles.push(trouble);
  }

  /** Prints it. @returns the exit code. */
  print(result: DemoResult, out: Output): 0 | 1 {
    const { delivery, verified } = result;
    for (const spans of this.#inOrder()) this.#printTrace(spans, result, out);
    out.line();
    out.line(out.style("bold", "Failed runs by tenant"));
    for (const line of failureTable(this.#tally)) out.line(line);
    out.line();
    out.line(out.style("bold", "Audit log"));
    for (const line of auditLines(result, out)) out.line(line);
    out.line();
    out.line(out.style("bold", "Traces"));
    for (const line of this.#sentLines(result, out)) out.line(line);
    if (!result.view) {
      out.line();
      out.line(out.style("bold", "To see these runs in the browser"));
      out.line(`  npx entelix-otel view ${asWord(result.directory)}`);
    }
    const lost = delivery.undelivered + this.#troubles.length;
    return verified.ok && lost === 0 ? 0 : 1;
  }

  /** The traces in the order of the recordings. */
  #inOrder(): FinishedSpan[][] {
    const traces = [...this.#traces.values()];
    return traces.sort((a, b) => this.#recordingOf(a) - this.#recordingOf(b));
  }

  #recordingOf([span]: readonly FinishedSpan[]): number {
    const runId = span === undefined ? "" : attributeText(span, "entelix.run_id");
    return this.#recordingOfRun.get(runId) ?? 0;
  }

  #printTrace(spans: readonly FinishedSpan[], result: DemoResult, out: Output): void {
    const recording = BUNDLED_RECORDINGS[this.#recordingOf(spans)];
    out.line();
    if (recording !== undefined) {
      out.line(out.style("bold", `${recording.title} (${originOf(recording)})`));
    }
    out.line(traceHeading(spans, out));
    for (const line of traceLines(spans, out)) out.line(line);
    const traceId = spans[0]?.traceId ?? "";
    if (result.delivery.delivered > 0) {
      out.line(out.style("cyan", jaegerTrace(result.jaeger, traceId)));
    }
  }

  #sentLines({ delivery, destination, pages }: DemoResult, out: Output): string[] {
    const { calls, runs, spans } = this.#tally;
    const made = `${counted(spans, "span")} (${counted(runs, "run")}, ${counted(calls, "tool call")})`;
    const troubles = this.#troubles.map((trouble) => out.style("red", safe(trouble)));
    if (destination.to === "nowhere") {
      return [
        `${made}. Nothing was sent: ${safe(destination.because)}. With Jaeger on this machine:`,
        "  npx entelix-otel demo --endpoint http://127.0.0.1:4318",
        ...troubles,
      ];
    }
    const { metrics, spansOnly, traces } = destination;
    const to = safe(shownUrl(traces));
    if (delivery.undelivered > 0) {
      const { given } = destination;
      const doctorOption = given === undefined ? "" : ` --endpoint ${safe(shownUrl(given))}`;
      const lost = `${counted(delivery.undelivered, "span")} of ${spans} could not be delivered to ${to}.`;
      return [
        out.style("red", lost),
        ...troubles,
        `npx entelix-otel doctor${doctorOption} says more about the endpoint.`,
      ];
    }
    const sent = `${made} delivered to ${to}`;
    const noMetrics = "It takes no metrics; the collector of docker-compose.yml does.";
    if (spansOnly) return [`${sent}.`, noMetrics, ...troubles];
    if (troubles.length > 0 || metrics === undefined) return [`${sent}.`, ...troubles];
    return [`${sent}, metrics to ${safe(shownUrl(metrics))}.`, ...pageLines(pages, out)];
  }
}

function pageLines(pages: readonly Page[], out: Output): string[] {
  if (pages.length === 0) return [];
  return [
    "In the stack of docker-compose.yml, within a minute:",
    ...pages.map(([name, address]) => `  ${name.padEnd(10)}  ${out.style("cyan", address)}`),
  ];
}

function auditLines({ directory, given, verified }: DemoResult, out: Output): string[] {
  const where = safe(directory);
  const word = asWord(directory);
  const held = `${counted(verified.rows, "row")} in ${counted(verified.threads, "thread")}`;
  const before = given ? ", those of before among them" : "";
  const verdict = verified.ok
    ? out.style("green", "✓ the chain holds")
    : out.style("red", `✗ ${counted(verified.problemCount, "problem")} in the chain`);
  return [
    `${where}: ${held}${before}. ${verdict}`,
    `  npx entelix-otel audit show ${word}`,
    `  npx entelix-otel audit verify ${word}`,
  ];
}

/** A name as a word of a command line. */
function asWord(name: string): string {
  return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${safe(name).replaceAll("'", "'\\''")}'`;
}
