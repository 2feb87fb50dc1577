import { v7 } from "uuid";
import type { AgentEvent } from "../../events/agent-event.ts";
import type { EventEnvelope } from "../../events/event-envelope.ts";
import { addMilliseconds, type Instant, toMilliseconds } from "../../events/instant.ts";
import type { RecordedEvent } from "./bundled-recordings.ts";

/** The recorded runs last some ten milliseconds: too short to be watched. */
const STRETCH = 12;
/** From the start of one recording to that of the next, in ms. */
const STAGGER_MS = 380;

/** One event, and when it is to be sent. */
export interface PlannedEvent {
  /** Index of its recording. */
  readonly recording: number;
  /** Milliseconds after the beginning. */
  readonly afterMs: number;
  readonly event: AgentEvent;
  readonly envelope: EventEnvelope;
}

/**
 * When each event of each recording is sent: the recordings begin one after the other and overlap,
 * the recorded gaps are kept (stretched), the times are those of now, the event ids are new.
 */
export function planPlay(
  recordings: readonly (readonly RecordedEvent[])[],
  begin: Readonly<Instant>,
): PlannedEvent[] {
  const plan: PlannedEvent[] = [];
  for (const [recording, events] of recordings.entries()) {
    const first = events[0]?.envelope.timestamp ?? begin;
    for (const { event, envelope } of events) {
      const gapMs = toMilliseconds(envelope.timestamp) - toMilliseconds(first);
      const afterMs = recording * STAGGER_MS + gapMs * STRETCH;
      const timestamp = addMilliseconds(begin, afterMs);
      plan.push({
        recording,
        afterMs,
        event,
        envelope: { ...envelope, event_id: v7(), timestamp },
      });
    }
  }
  return plan.sort((a, b) => a.afterMs - b.afterMs);
}
