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

/** Nearly all calls have one of these. */
const TIER_FACTS: ReadonlyMap<string, SignalAttributes> = new Map(
  ["Observe", "Confirm"].map((tier) => [tier, tierAttributes(tier)]),
);

/** The end of a tool call: how a human decided, where one was asked, and what came of it. */
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
    // Upstream does not class its errors.
    end: result.success
      ? { outcome: "complete", content: contentOf(result), attributes }
      : { outcome: "error", message: result.output, attributes },
  };
  if (noted?.askedAt === undefined) return [closes];
  const waitMs = waited(noted.askedAt, at, result);
  return [{ signal: "call_approved", tenantId, runId, at, callId, name, waitMs }, closes];
}

/** What upstream writes before the reason when a hook or a human said no. */
const REFUSALS = ["Rejected: ", "Blocked: ", "Blocked at resume: "];

/** Whether the tool never ran: a result that was not timed, with upstream's own words for it. */
function wasRefused({ success, output, duration_ms }: ToolResult): boolean {
  return !success && duration_ms == null && REFUSALS.some((words) => output.startsWith(words));
}

/** How long the human took: from the question to when the tool must have begun. */
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

/** A time as much earlier as something took; unmoved by what would be longer than there is time. */
export function movedBack(at: Instant, tookMs: Count): Instant {
  const from = addMilliseconds(at, -Number(tookMs));
  return from[0] >= 0 ? from : at;
}
