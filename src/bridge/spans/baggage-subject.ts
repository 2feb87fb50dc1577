import { type Context, propagation } from "@opentelemetry/api";

/** Who a run is for, by OpenTelemetry's baggage. */
export interface BaggageSubject {
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly conversation: string | undefined;
}

/** Reads the entries with the names of the attributes. `undefined` if the context has no baggage. */
export function baggageSubject(active: Context): BaggageSubject | undefined {
  const baggage = propagation.getBaggage(active);
  if (baggage === undefined) return undefined;
  const entry = (name: string) => baggage.getEntry(name)?.value;
  return {
    user: entry("user.id"),
    session: entry("session.id"),
    conversation: entry("gen_ai.conversation.id"),
  };
}
