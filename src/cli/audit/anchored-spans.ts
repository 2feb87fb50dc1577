import { inputBytes, type OnWait, type SpanAnchor } from "../../audit/door.ts";
import type { SpanAttributes } from "../../bridge/door.ts";
import { textBytes } from "../../replay/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";
import { attributesOf, plainIn, rawSpansOf } from "../traces/otlp-spans.ts";
import { requestLines } from "../traces/span-requests.ts";

/** The anchor on a run's span, and its line in the file. */
export interface AnchoredSpan {
  readonly anchor: SpanAnchor;
  /** From 1. */
  readonly line: number;
}

/**
 * Reads the run spans that name their last audit row from a file of OTLP/JSON lines (`replay --out`, or the
 * collector's file exporter).
 *
 * @param onWait called before waiting for a pipe.
 * @throws CliError with file and line if the file cannot be read or has another format.
 */
export async function anchoredSpans(file: string, onWait: OnWait): Promise<AnchoredSpan[]> {
  const spans: AnchoredSpan[] = [];
  try {
    const bytes = inputBytes(file, onWait);
    for await (const { expected, part, request } of requestLines(textBytes(bytes))) {
      if (expected !== undefined) {
        throw new CliError(`${safe(file)}:${part.line}: expected ${expected}`);
      }
      if (request === undefined) continue;
      for (const span of rawSpansOf(request)) {
        // Anchors have plain values only. Other attributes need not be valid.
        const anchor = anchorOf(attributesOf(span, plainIn));
        if (anchor !== undefined) spans.push({ anchor, line: part.line });
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
