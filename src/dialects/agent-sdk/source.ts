import type { KnownFacts } from "../known-facts.ts";

/** Which runtime a run is of; alerts and dashboards are the same for all. */
export const SOURCE: KnownFacts = { "entelix.source": "agent-sdk" };
