import { type Channel, channel } from "node:diagnostics_channel";
import { type Fields, fieldsOf, textOf } from "../core/door.ts";
import { carried, currentIn } from "../runtime/door.ts";
import type { CallState } from "./call-state.ts";

/** The channel of the AI SDK 7, which runs each step of a call in the stores of the channel. */
const STEPS = "tracing:ai:telemetry:start";

/** Open calls by the SDK's ID. */
const open = new Map<string, CallState>();

/** Held, because Node forgets a channel that nothing holds. */
let followed: Channel | undefined;

/**
 * Runs the code of the call's steps as code of its run: `prepareStep`, functions that repair calls, and approvals. The
 * callbacks of the SDK cannot do this, because they do not run that code.
 *
 * Stores that are bound to the channel get the run, but not the active span, whose storage belongs to OpenTelemetry.
 * So the method that enters the stores is wrapped.
 */
export function opened(callId: string, state: CallState): void {
  open.set(callId, state);
  if (followed !== undefined) return;
  followed = channel(STEPS);
  const enter = followed.runStores;
  Object.defineProperty(followed, "runStores", {
    configurable: true,
    writable: true,
    value(this: unknown, message: unknown, work: () => unknown, ...rest: readonly unknown[]) {
      const state = open.get(textOf(eventOf(message)?.callId) ?? "");
      const inside = state === undefined ? work : within(state, work);
      return Reflect.apply(enter, this, [message, inside, ...rest]);
    },
  });
  // The SDK enters the stores only if the channel has a subscriber.
  followed.subscribe(() => {});
}

export function closed(callId: string): void {
  open.delete(callId);
}

function within({ active }: CallState, work: () => unknown): () => unknown {
  return function (this: unknown, ...args: readonly unknown[]) {
    return carried(active.sink, {}, currentIn(active), () => Reflect.apply(work, this, args));
  };
}

function eventOf(message: unknown): Fields | undefined {
  return fieldsOf(fieldsOf(message)?.event);
}
