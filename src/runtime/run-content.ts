import type { EventDetails } from "../events/event-details.ts";
import { messagesOrValue } from "../messages/to-messages.ts";

// What is no message is sent as it is: writing its JSON is the business of whoever shows it.

/** The details of a `started`, with what the run was asked, where it has an input. */
export function askedIn(input: unknown, further?: EventDetails): EventDetails | undefined {
  if (input === undefined || input === null) return further;
  return { ...further, input: messagesOrValue(input, "user") };
}

/** The details of a run's end, with what it answered, or what it asks where it paused. */
export function answerIn(output: unknown, further?: EventDetails): EventDetails | undefined {
  if (output === undefined || output === null) return further;
  return { ...further, output: messagesOrValue(output, "assistant") };
}
