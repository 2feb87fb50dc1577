import { agentSdkDialect } from "../dialects/agent-sdk/agent-sdk-dialect.ts";
import { AgentSdkMapping } from "../dialects/agent-sdk/agent-sdk-mapping.ts";
import type { AgentSdkEvent } from "../dialects/agent-sdk/events.ts";
import { defectDialect } from "../dialects/defect/defect-dialect.ts";
import type { DefectEvent } from "../dialects/defect/defect-event.ts";
import { DefectMapping } from "../dialects/defect/defect-mapping.ts";
import { entelixDialect } from "../dialects/entelix/entelix-dialect.ts";
import { graphDialect } from "../dialects/graph/graph-dialect.ts";
import type { GraphLine } from "../dialects/graph/graph-line.ts";
import { GraphMapping } from "../dialects/graph/graph-mapping.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { mapped, native, type RecordedRuntime } from "./player.ts";

/** An event of any runtime that is known here. */
export type RecordedEvent = AgentEvent | AgentSdkEvent | DefectEvent | GraphLine;

export type AnyRuntime = RecordedRuntime<RecordedEvent>;

export const RUNTIMES: readonly [AnyRuntime, ...AnyRuntime[]] = [
  native(entelixDialect),
  mapped(agentSdkDialect, (tenant, rows) => new AgentSdkMapping({ tenant, rows })),
  mapped(defectDialect, (tenant, rows) => new DefectMapping({ tenant, rows })),
  mapped(graphDialect, (tenant, rows) => new GraphMapping(tenant, rows)),
];

/** What `--dialect` may be. */
export const DIALECT_NAMES: readonly string[] = [
  "auto",
  ...RUNTIMES.map(({ dialect }) => dialect.name),
];
