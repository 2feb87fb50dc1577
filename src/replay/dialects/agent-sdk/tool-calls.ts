import {
  addMilliseconds,
  type Instant,
  millisecondsBetween,
  type Signal,
  type SignalAttributes,
  type SignalSubject,
} from "../../../events/door.ts";
import type { Count, ToolCallEnd, ToolCallStart, ToolResult, ToolTier } from "./events.ts";
import type { NotedCall } from "./open-run.ts";

/** The start of a tool call. */
export function callOpens(event: ToolCallStart, { tenantId, runId, at }: SignalSubject): Signal {
  return {
    signal: "call_opens",
    tenantId,
    runId,
    at,
    callId: event.id,
    name: event.name,
    content: event.input,
    attributes: TIER_FACTS.get(event.tier) ?? tierAttributes(event.tier),
  };
}

function tierAttributes(tier: ToolTier): SignalAttributes {
  return { "entelix.tool.tier": tier.toLowerCase() };
}

/** Nearly all calls have one of these tiers. */
const TIER_FACTS: ReadonlyMap<string, SignalAttributes> = new Map(
  ["Observe", "Confirm"].map((tier) => [tier, tierAttributes(tier)]),
);

/** The end of a tool call: the human's decision, if any, and the result. */
export function callEnds(
  event: ToolCallEnd,
  noted: NotedCall | undefined,
  subject: SignalSubject,
): readonly Signal[] {
  const { id: callId, name, result } = event;
  const { tenantId, runId, at } = subject;
  const attributes = progressAttributes(noted);
  if (wasRefused(result)) {
    const content = result.output;
    return [{ signal: "call_denied", tenantId, runId, at, callId, name, content, attributes }];
  }
  const closes: Signal = {
    signal: "call_closes",
    tenantId,
    runId,
    at,
    callId,
    name,
    durationMs: Number(result.duration_ms ?? 0),
    // Upstream does not classify tool errors.
    end: result.success
      ? { outcome: "complete", content: contentOf(result), attributes }
      : { outcome: "error", message: result.output, attributes },
  };
  if (noted?.askedAt === undefined) return [closes];
  const waitMs = waited(noted.askedAt, at, result);
  return [{ signal: "call_approved", tenantId, runId, at, callId, name, waitMs }, closes];
}

/** Upstream's prefixes of the reason if a hook or a human rejected the call. */
const REFUSALS = ["Rejected: ", "Blocked: ", "Blocked at resume: "];

/** Whether the tool never ran: it has no duration, and an output of upstream's rejection. */
function wasRefused({ success, output, duration_ms }: ToolResult): boolean {
  return !success && duration_ms == null && REFUSALS.some((words) => output.startsWith(words));
}

/** Time from the question to the start of the tool. */
function waited(askedAt: Instant, endedAt: Instant, { duration_ms }: ToolResult) {
  if (duration_ms == null) return undefined;
  const beganAt = movedBack(endedAt, duration_ms);
  return Math.max(0, Math.round(millisecondsBetween(askedAt, beganAt)));
}

function contentOf({ output, data }: ToolResult): unknown {
  return data == null ? output : { output, data };
}

function progressAttributes(noted: NotedCall | undefined): SignalAttributes | undefined {
  if (noted === undefined || noted.progress === 0) return undefined;
  return { "entelix.progress.count": noted.progress };
}

/** `at` minus a duration. Unchanged if the result would be before 1970. */
export function movedBack(at: Instant, tookMs: Count): Instant {
  const from = addMilliseconds(at, -Number(tookMs));
  return from[0] >= 0 ? from : at;
}
