import type { AdapterCounts } from "../core/door.ts";

/** Counts of SDK spans without an event, or without a run, and of errors. All start at 0. */
export interface ProcessorCounts extends AdapterCounts {
  /** Handoffs between agents. The next agent's run names the agent before it. */
  readonly handoffs: number;
  /** Guardrails that ran. */
  readonly guardrails: number;
  /** Guardrails that tripped. Their runs fail and name the guardrail. */
  readonly tripwires: number;
  /** Requests for the tool lists of MCP servers. */
  readonly mcpLists: number;
  /** Spans of other kinds: custom, speech, transcription, and kinds of newer SDKs. */
  readonly otherSpans: number;
  /** Spans that ended without a start, or ended twice. */
  readonly strayEnds: number;
  /** Traces without a known tenant. Nothing of them is sent. */
  readonly untenanted: number;
  /** Spans that were not followed: those of such traces, and those with another tenant than their trace. */
  readonly unfollowedSpans: number;
  /** Traces that were forgotten because of `maxTraces`, while something in them was open or paused. */
  readonly forgottenTraces: number;
  /** Spans that were not followed because too many are open in their trace. */
  readonly crowdedSpans: number;
}

export function noCounts() {
  return {
    handoffs: 0,
    guardrails: 0,
    tripwires: 0,
    mcpLists: 0,
    otherSpans: 0,
    strayEnds: 0,
    untenanted: 0,
    unfollowedSpans: 0,
    crowdedSpans: 0,
  };
}
