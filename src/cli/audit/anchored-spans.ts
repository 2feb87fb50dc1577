import { inputBytes, type OnWait, type SpanAnchor } from "../../audit/door.ts";
import type { SpanAttributes } from "../../bridge/door.ts";
import { readNdjson } from "../../replay/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";
import {
  attributesOf,
  MAX_REQUEST_BYTES,
  plainIn,
  rawSpansOf,
  traceRequestIn,
} from "../traces/otlp-spans.ts";

/** A run span's anchor, and where in the file it stands. */
export interface AnchoredSpan {
  readonly anchor: SpanAnchor;
  /** From 1. */
  readonly line: number;
}

/**
 * Reads the run spans of an OTLP/JSON lines file (`replay --out`, or the collector's file exporter)
 * that name their last audit row.
 *
 * @param onWait told that the file is a pipe, and waited for.
 * @throws CliError naming file and line when it can't be read, or is something else.
 */
export async function anchoredSpans(file: string, onWait?: OnWait): Promise<AnchoredSpan[]> {
  const spans: AnchoredSpan[] = [];
  try {
    const bytes = inputBytes(file, onWait);
    for await (const batch of readNdjson(bytes, { maxLineBytes: MAX_REQUEST_BYTES })) {
      for (const part of batch) {
        const text = part.oversized ? undefined : part.text;
        const request = text === undefined ? undefined : traceRequestIn(text);
        if (request === undefined) {
          const expected = part.oversized
            ? `expected at most ${MAX_REQUEST_BYTES} bytes on one line`
            : "expected an ExportTraceServiceRequest in JSON on one line";
          throw new CliError(`${safe(file)}:${part.line}: ${expected}`);
        }
        for (const span of rawSpansOf(request)) {
          // All of an anchor is plain: a sender's other attributes, of whatever form, are not read.
          const anchor = anchorOf(attributesOf(span, plainIn));
          if (anchor !== undefined) spans.push({ anchor, line: part.line });
        }
      }
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`--against: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
  return spans;
}

function anchorOf(attributes: SpanAttributes): SpanAnchor | undefined {
  const hash = attributes["entelix.audit.hash"];
  const ordinal = attributes["entelix.audit.ordinal"];
  const run_id = attributes["entelix.run_id"];
  const tenant_id = attributes["entelix.tenant_id"];
  if (typeof hash !== "string" || typeof ordinal !== "number") return undefined;
  if (typeof run_id !== "string" || typeof tenant_id !== "string") return undefined;
  return { tenant_id, run_id, ordinal, hash };
}
