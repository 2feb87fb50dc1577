import { createReadStream } from "node:fs";
import type { SpanAnchor } from "../../audit/verify/span-anchors.ts";
import { readNdjson } from "../../ingest/ndjson-reader.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/safe-text.ts";
import { isTraceRequest, plainAttributes, spansOf } from "./otlp-span.ts";

/** A run span's anchor, and where in the file it stands. */
export interface AnchoredSpan {
  readonly anchor: SpanAnchor;
  /** From 1. */
  readonly line: number;
}

/** The collector writes a batch a line, of 8,192 spans or more, with all that stands on them. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/**
 * Reads the run spans of an OTLP/JSON lines file (`replay --out`, or the collector's file exporter)
 * that name their last audit row.
 *
 * @throws CliError naming file and line when it can't be read, or is something else.
 */
export async function anchoredSpans(file: string): Promise<AnchoredSpan[]> {
  const spans: AnchoredSpan[] = [];
  try {
    const bytes = createReadStream(file);
    for await (const batch of readNdjson(bytes, { maxLineBytes: MAX_LINE_BYTES })) {
      for (const part of batch) {
        const request = part.oversized ? undefined : parse(part.text);
        if (!isTraceRequest(request)) {
          const expected = part.oversized
            ? `expected at most ${MAX_LINE_BYTES} bytes on one line`
            : "expected an ExportTraceServiceRequest in JSON on one line";
          throw new CliError(`${safe(file)}:${part.line}: ${expected}`);
        }
        for (const span of spansOf(request)) {
          const anchor = anchorOf(plainAttributes(span));
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

function anchorOf(attributes: ReadonlyMap<string, string | number>): SpanAnchor | undefined {
  const hash = attributes.get("entelix.audit.hash");
  const ordinal = attributes.get("entelix.audit.ordinal");
  const run_id = attributes.get("entelix.run_id");
  const tenant_id = attributes.get("entelix.tenant_id");
  if (typeof hash !== "string" || typeof ordinal !== "number") return undefined;
  if (typeof run_id !== "string" || typeof tenant_id !== "string") return undefined;
  return { tenant_id, run_id, ordinal, hash };
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
