import { createReadStream } from "node:fs";
import type { SpanAnchor } from "../../audit/verify/span-anchors.ts";
import { readNdjson } from "../../ingest/ndjson-reader.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

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

/** The spans of a parsed `ExportTraceServiceRequest`; none where it is something else. */
export function* spansOf(request: unknown): Generator<Readonly<Record<string, unknown>>> {
  for (const resource of listed(request, "resourceSpans")) {
    for (const scope of listed(resource, "scopeSpans")) yield* listed(scope, "spans");
  }
}

/** The attributes of a span that are strings or integers; integers may be written either way. */
function plainAttributes(
  span: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string | number> {
  const attributes = new Map<string, string | number>();
  for (const { key, value } of listed(span, "attributes")) {
    if (typeof key !== "string" || !isRecord(value)) continue;
    const { intValue, stringValue } = value;
    if (typeof stringValue === "string") attributes.set(key, stringValue);
    else if (typeof intValue === "string" || typeof intValue === "number") {
      attributes.set(key, Number(intValue));
    }
  }
  return attributes;
}

/** Whether it looks like a request at all, also one without spans. */
function isTraceRequest(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.resourceSpans);
}

type Fields = Readonly<Record<string, unknown>>;

function listed(value: unknown, name: string): Fields[] {
  const list = isRecord(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
