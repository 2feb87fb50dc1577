import type { Instant } from "../../events/door.ts";
import type { Fields } from "../core/narrow.ts";
import type { ModelCall, ToolCall } from "../core/run-parts.ts";
import type { RunWriter } from "../core/run-writer.ts";
import type { UsageTotals } from "../core/usage-totals.ts";
import type { ActiveRun } from "../runtime/active-run.ts";

/** A model call that is open. */
export interface OpenModel extends ModelCall {
  readonly provider: string | undefined;
  attempts: number;
  /** What the last attempt failed with. */
  error?: { readonly thrown: unknown } | undefined;
  responseModel: string | undefined;
  /** Its answer, of which the SDK has not reported the end. */
  answer?: Fields | undefined;
  /** When the last of the answer came, if the SDK reports it later. */
  answeredAt?: Instant | undefined;
  durationMs?: number | undefined;
}

/** A tool call that is open. */
export interface OpenTool extends ToolCall {
  /** Its start, among what errors come out of. */
  readonly since: number;
  /** What its code threw: the SDK may hide it from telemetry. */
  error?: { readonly thrown: unknown } | undefined;
}

/** One call of the AI SDK, which is a run. */
export interface CallState {
  readonly operationId: string;
  readonly writer: RunWriter;
  /** What its code finds as the current run. */
  readonly active: ActiveRun;
  /** No run is around it. */
  readonly isRoot: boolean;
  readonly totals: UsageTotals;
  /** Its start, among what errors come out of. */
  readonly since: number;
  readonly runtimeContext: Fields;
  /** The call's tools, by their names. */
  tools: unknown;
  toolChoice: unknown;
  /** The SDK's major version. */
  readonly sdk: 6 | 7;
  /** The SDK must not show what goes in or out, so error texts are not the errors' own. */
  isHidden: boolean;
  model: OpenModel | undefined;
  /** What the last model call failed with. */
  modelError: { readonly thrown: unknown } | undefined;
  readonly openTools: Map<string, OpenTool>;
  /** Tool calls that were reported in this run. */
  readonly reported: Set<string>;
}
