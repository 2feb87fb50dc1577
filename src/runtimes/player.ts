import type { Dialect, JsonObject, LineEnvelope } from "../dialects/dialect.ts";
import { runOfLine } from "../dialects/entelix/entelix-dialect.ts";
import type { Mapping } from "../dialects/mapping.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { type Bridge, internalsOf } from "../otel/bridge.ts";
import { feedOf } from "../otel/translated-feed.ts";

/** Plays the events of one runtime through a bridge. */
export interface Player<E> {
  /** @returns a promise where something has to be waited for. */
  take(event: E, envelope: LineEnvelope): Promise<void> | undefined;
  /** A line of a type that the dialect does not know, in its turn: the run it is of is not silent. */
  hear(value: JsonObject, envelope: LineEnvelope): void;
  /** At the end of the input. */
  end(): Promise<void>;
}

/** @param rows whether audit rows are made; default true. */
export type MakeMapping<E> = (tenant: string, rows?: boolean) => Mapping<E>;

/** One runtime whose recordings can be read. */
export interface RecordedRuntime<E> {
  readonly dialect: Dialect<E>;
  /** Makes the mapping of a runtime that is not entelix's; its state is the caller's. */
  readonly mapping: MakeMapping<E> | undefined;
  player(bridge: Bridge, tenant: string): Player<E>;
}

/** A runtime whose events are this package's own. */
export function native(dialect: Dialect<AgentEvent>): RecordedRuntime<AgentEvent> {
  return {
    dialect,
    mapping: undefined,
    player: (bridge) => ({
      take: (event, envelope) => bridge.send(event, envelope) ?? undefined,
      hear: (value, { timestamp }) => {
        const run = runOfLine(value);
        if (run === undefined) return;
        const { tenant_id: tenantId, run_id: runId } = run;
        const at: [number, number] = [timestamp[0], timestamp[1]];
        internalsOf(bridge).telemetry.hear({ signal: "heard", tenantId, runId, at });
      },
      end: async () => {},
    }),
  };
}

/** A runtime whose events a mapping reads. */
export function mapped<E>(dialect: Dialect<E>, mapping: MakeMapping<E>): RecordedRuntime<E> {
  return {
    dialect,
    mapping,
    player: (bridge, tenant) => {
      // Without an audit log nobody takes the rows.
      const rows = bridge.audit !== undefined;
      return feedOf(bridge, mapping(tenant, rows), tenant);
    },
  };
}
