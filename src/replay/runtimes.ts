import { type Bridge, internalsOf } from "../bridge/door.ts";
import type { AgentEvent } from "../events/door.ts";
import { agentSdkDialect } from "./dialects/agent-sdk/agent-sdk-dialect.ts";
import { AgentSdkMapping } from "./dialects/agent-sdk/agent-sdk-mapping.ts";
import type { AgentSdkEvent } from "./dialects/agent-sdk/events.ts";
import { defectDialect } from "./dialects/defect/defect-dialect.ts";
import { DefectMapping } from "./dialects/defect/defect-mapping.ts";
import type { DefectEvent } from "./dialects/defect/events.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { entelixDialect, runOfLine } from "./dialects/entelix/entelix-dialect.ts";
import { graphDialect } from "./dialects/graph/graph-dialect.ts";
import type { GraphLine } from "./dialects/graph/graph-line.ts";
import { GraphMapping } from "./dialects/graph/graph-mapping.ts";
import type { Mapping } from "./dialects/mapping.ts";
import { playerOf, type SignalPlayer } from "./signal-player.ts";

/** An event of any known runtime. */
export type RecordedEvent = AgentEvent | AgentSdkEvent | DefectEvent | GraphLine;

export type AnyRuntime = RecordedRuntime<RecordedEvent>;

export const RUNTIMES: readonly [AnyRuntime, ...AnyRuntime[]] = [
  native(entelixDialect),
  mapped(agentSdkDialect, (tenant, rows) => new AgentSdkMapping({ tenant, rows })),
  mapped(defectDialect, (tenant, rows) => new DefectMapping({ tenant, rows })),
  mapped(graphDialect, (tenant, rows) => new GraphMapping(tenant, rows)),
];

/** Values of `--dialect`. */
export const DIALECT_NAMES: readonly string[] = [
  "auto",
  ...RUNTIMES.map(({ dialect }) => dialect.name),
];

/** @param rows whether audit rows are made. Default true. */
export type MakeMapping<E> = (tenant: string, rows?: boolean) => Mapping<E>;

/** One runtime whose recordings can be read. */
export interface RecordedRuntime<E> {
  readonly dialect: Dialect<E>;
  /** Makes the mapping of a foreign runtime. The caller owns its state. Absent for entelix's own events. */
  readonly mapping: MakeMapping<E> | undefined;
  player(bridge: Bridge, tenant: string): SignalPlayer<E>;
}

/** The runtime of this package's own events. */
export function native(dialect: Dialect<AgentEvent>): RecordedRuntime<AgentEvent> {
  return {
    dialect,
    mapping: undefined,
    player: (bridge) => ({
      take: (event, envelope) => bridge.send(event, envelope) ?? undefined,
      keepAlive: (value, { timestamp }) => {
        const run = runOfLine(value);
        if (run === undefined) return;
        const { tenant_id: tenantId, run_id: runId } = run;
        const at: [number, number] = [timestamp[0], timestamp[1]];
        internalsOf(bridge).telemetry.keepAlive({ signal: "activity", tenantId, runId, at });
      },
      end: async () => {},
    }),
  };
}

/** A runtime whose events are read by a mapping. */
export function mapped<E>(dialect: Dialect<E>, mapping: MakeMapping<E>): RecordedRuntime<E> {
  return {
    dialect,
    mapping,
    player: (bridge, tenant) => {
      // Rows are used by an audit log only.
      const rows = bridge.audit !== undefined;
      return playerOf(bridge, mapping(tenant, rows), tenant);
    },
  };
}
