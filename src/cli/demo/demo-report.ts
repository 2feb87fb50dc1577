import type { VerifyReport } from "../../audit/verify/verify-report.ts";
import type { AgentEvent } from "../../events/agent-event.ts";
import { attributeText, type FinishedSpan } from "../../otel/replay/finished-span.ts";
import type { Delivery } from "../../otel/replay/otlp-endpoint.ts";
import { jaegerTrace } from "../jaeger.ts";
import { counted } from "../terminal/figures.ts";
import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";
import { failureTable } from "../traces/failure-table.ts";
import { RunTally } from "../traces/run-tally.ts";
import { traceHeading, traceLines } from "../traces/trace-lines.ts";
import { BUNDLED_RECORDINGS } from "./bundled-recordings.ts";
import { originOf } from "./watch-line.ts";

/** What is known when the demo is over. */
export interface DemoResult {
  readonly verified: VerifyReport;
  /** Of the audit log. */
  readonly directory: string;
  /** Whether the user named it: then there may be rows of before in it. */
  readonly given: boolean;
  readonly jaeger: string;
  /** `undefined`: no endpoint was configured. */
  readonly sent: Delivery | undefined;
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
    const { sent, verified } = result;
    for (const spans of this.#inOrder()) this.#printTrace(spans, result, out);
    out.line();
    out.line(out.style("bold", "Failed runs by tenant"));
    for (const line of failureTable(this.#tally)) out.line(line);
    out.line();
    out.line(out.style("bold", "Audit log"));
    for (const line of auditLines(result, out)) out.line(line);
    out.line();
    out.line(out.style("bold", "Traces"));
    for (const line of this.#sentLines(sent, out)) out.line(line);
    for (const trouble of this.#troubles) out.line(out.style("red", safe(trouble)));
    const lost = (sent?.undelivered ?? 0) + this.#troubles.length;
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
    if (result.sent !== undefined && result.sent.delivered > 0) {
      out.line(out.style("cyan", jaegerTrace(result.jaeger, traceId)));
    }
  }

  #sentLines(sent: Delivery | undefined, out: Output): string[] {
    const { calls, runs, spans } = this.#tally;
    const made = `${counted(spans, "span")} (${counted(runs, "run")}, ${counted(calls, "tool call")})`;
    if (sent === undefined) {
      return [
        `${made}. Nothing was sent: no endpoint is configured. With Jaeger on this machine:`,
        "  entelix-otel demo --endpoint http://127.0.0.1:4318",
      ];
    }
    const url = safe(sent.url);
    if (sent.undelivered === 0) return [`${made} delivered to ${url}.`];
    const lost = `${counted(sent.undelivered, "span")} of ${spans} could not be delivered to ${url}`;
    return [
      out.style("red", `${lost}: ${safe(sent.trouble ?? "")}`),
      "entelix-otel doctor says more about the endpoint.",
    ];
  }
}

function auditLines({ directory, given, verified }: DemoResult, out: Output): string[] {
  const where = safe(directory);
  const word = /^[\w@%+=:,./-]+$/.test(directory)
    ? directory
    : `'${where.replaceAll("'", "'\\''")}'`;
  const held = `${counted(verified.rows, "row")} in ${counted(verified.threads, "thread")}`;
  const before = given ? ", those of before among them" : "";
  const verdict = verified.ok
    ? out.style("green", "✓ the chain holds")
    : out.style("red", `✗ ${counted(verified.problemCount, "problem")} in the chain`);
  return [
    `${where}: ${held}${before}. ${verdict}`,
    `  entelix-otel audit show ${word}`,
    `  entelix-otel audit verify ${word}`,
  ];
}
