// The JSON that the page of `view` and `report` reads, and that `view --json` prints. docs/view-format.md describes it.
// Fields without a value are absent, unless their type has `null`.

/** Name of the format, in every document. */
export const FORMAT = "entelix-otel/view";

/** Changes when a field changes its meaning or is removed, not when a field is added. */
export const FORMAT_VERSION = 1;

/** How a run ended. `open`: it has no end yet, or its end is not in the source. */
export type RunOutcome =
  | "complete"
  | "failed"
  | "refused"
  | "interrupted"
  | "abandoned"
  | "open"
  | (string & {});

/** A decision about a tool call. */
export interface ViewDecision {
  /** ID of the call; empty if unknown. */
  readonly call_id: string;
  readonly tool: string;
  /** `approved`, `denied`, `edited` or `answered`. */
  readonly outcome: string;
  /** The earlier of its time and the start of its call: Unix time in ms. */
  readonly at_ms: number;
  /** `user` or `policy`. */
  readonly by?: string | undefined;
  /** Who decided, if it is known. */
  readonly person?: string | undefined;
  readonly wait_ms?: number | undefined;
}

/** The story of a run in a few texts of up to 200 characters. Texts of messages need captured content. */
export interface ViewStory {
  /** The last message of the user. */
  readonly question?: string | undefined;
  readonly answer?: string | undefined;
  /** If it failed: the operator's text. */
  readonly error?: string | undefined;
  /** If it waits for a person: the question, or the call that needs a decision. */
  readonly asked?: string | undefined;
  /** The first 8 decisions about its calls. */
  readonly decisions?: readonly ViewDecision[] | undefined;
  readonly thread_id?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  /** The model of its first call. */
  readonly model?: string | undefined;
  /** The first 8 models of its calls. Absent if all calls had the same. */
  readonly models?: readonly string[] | undefined;
  /** The first 12 tools that it called. */
  readonly tools?: readonly string[] | undefined;
  /** The first 12 labels that the sender gave it. */
  readonly tags?: readonly string[] | undefined;
  /** For the search: how the inputs of its tool calls begin, up to 300 characters in all. Needs captured content. */
  readonly tool_inputs?: string | undefined;
}

/** One row of the list. */
export interface ViewRun extends ViewStory {
  /** Identifies the run in this document: `run_id`, with the tenant if two tenants have the same ID. */
  readonly key: string;
  readonly run_id: string;
  readonly tenant_id: string;
  readonly trace_id: string;
  readonly agent?: string;
  /** The run that dispatched it. */
  readonly parent_run_id?: string;
  /** The interrupted run that it continues. */
  readonly resumed_from?: string | undefined;
  /** Another run of the list continues it: it does not wait any more. */
  readonly resumed?: true;
  /** When its first event or row happened: Unix time in ns, as decimal text. */
  readonly start_ns: string;
  /** When it ended, or ended last if it was resumed. `null`: it is open. */
  readonly end_ns: string | null;
  readonly outcome: RunOutcome;
  /** If the outcome is `failed`: one of the seven kinds. */
  readonly failure_kind?: string;
  readonly failure_origin?: string;
  readonly failure_fingerprint?: string;
  /** If the outcome is `interrupted`: the reason of the pause. */
  readonly interruption_kind?: string;
  /** Time between start and end without waits for people in it, in ms. Absent while it is open. */
  readonly working_ms?: number;
  /**
   * Time spent waiting for people: approvals, pauses that interrupted it, and the pause before it if it resumes another
   * run. In ms.
   */
  readonly waiting_ms?: number;
  /** Tokens, including those of its child runs if they are known. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** US dollars as decimal text. */
  readonly cost_usd?: string;
  /** If the cost is an estimate: the list of prices with its date, such as `prices of 2026-11-03`. */
  readonly estimated_by?: string;
  /** Its own spans, without those of child runs. */
  readonly spans: number;
  /** Its audit rows. */
  readonly rows: number;
  readonly child_runs: number;
  /** If the outcome is `complete`: the tools whose last call failed. */
  readonly degraded?: readonly string[];
  /** Shape of the loop that its tool calls were in. */
  readonly loop?: string;
}

/** A problem of a source: damage, missing parts, lines that cannot be read as events. */
export interface ViewProblem {
  /** File, folder or database as the user named it, or a file of the log. */
  readonly place: string;
  /** From 1. Absent if the problem is not about a line. */
  readonly line?: number;
  /** The problem in a sentence. */
  readonly problem: string;
}

/** Result of the verification of an audit log. */
export interface ViewVerdict {
  /** `checking`: the verification has not ended. */
  readonly state: "intact" | "open" | "unclosed" | "damaged" | "checking";
  /** In words: `intact, closed`. */
  readonly text: string;
  /** Meaning and next steps, a sentence each. */
  readonly advice: readonly string[];
  /** Rows that were checked. */
  readonly rows: number;
  readonly problem_count: number;
  /** The first of them. */
  readonly problems: readonly ViewProblem[];
  /** When it was verified: RFC 3339. */
  readonly verified_at?: string;
}

export interface ViewSource {
  /** As the user named it, without a password. */
  readonly name: string;
  readonly kind: "recording" | "spans" | "folder" | "audit-log" | "database" | "jaeger" | "otlp";
  /** Whether it is read further as it grows. */
  readonly followed: boolean;
  /** Share of it that was read, 0 to 1. 1: its end was reached. */
  readonly read: number;
  readonly problem_count: number;
  /** The first of them. */
  readonly problems: readonly ViewProblem[];
  /** Result of the verification, if it is an audit log. */
  readonly verdict?: ViewVerdict;
}

/** All runs: what the list shows. */
export interface RunList {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  /** Counts changes: `since` of the next request. */
  readonly revision: number;
  /** `true`: the list is complete. Remove runs of earlier lists that are not in it. */
  readonly all?: boolean;
  readonly sources: readonly ViewSource[];
  /** Spans of traces without a run. They are not shown. */
  readonly other_spans: number;
  /** Older runs that are not in the list: it has the newest 100,000. Absent if there are none. */
  readonly left_out?: number;
  /** With `left_out`: when the oldest run of the list began, Unix time in ns. */
  readonly oldest_ns?: string;
  /** All runs, or those that have changed since. In no order. */
  readonly runs: readonly ViewRun[];
}

/** A value of an attribute. Integers beyond 2^53 are text. */
export type ViewValue =
  | string
  | number
  | boolean
  | null
  | readonly (string | number | boolean | null)[];

export type ViewAttributes = Readonly<Record<string, ViewValue>>;

export type SpanKindName = "run" | "model" | "tool" | "step" | "other";

export interface ViewSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  /** Whether its parent is a span of another process. Absent if the sender does not say it. */
  readonly remote_parent?: boolean;
  /** The run that it belongs to. Absent if it has no part in a run. */
  readonly run_id?: string;
  /** On spans of other instrumentation: the names that its agents, models and tools have. The run is then the trace. */
  readonly vocabulary?: string;
  /** `other`: neither agent, model, tool nor step. */
  readonly kind: SpanKindName;
  readonly name: string;
  readonly start_ns: string;
  /** `null`: it has no end yet. */
  readonly end_ns: string | null;
  /** Whether its status is ERROR. */
  readonly failed: boolean;
  /** Description of the status: the operator's text. */
  readonly message?: string;
  /** If its cost is an estimate: the list of prices with its date. */
  readonly estimated_by?: string;
  readonly attributes: ViewAttributes;
  readonly events: readonly ViewSpanEvent[];
  readonly links: readonly ViewSpanLink[];
}

export interface ViewSpanEvent {
  readonly name: string;
  readonly time_ns: string;
  readonly attributes: ViewAttributes;
}

export interface ViewSpanLink {
  readonly trace_id: string;
  readonly span_id: string;
  readonly attributes: ViewAttributes;
}

/** A row of the audit log. */
export interface ViewRow {
  readonly tenant_id: string;
  readonly thread_id: string;
  readonly ordinal: number;
  readonly kind: string;
  /** When it happened: RFC 3339. */
  readonly timestamp?: string;
  readonly run_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly event_id: string | null;
  readonly hash: string;
  readonly prev: string;
  readonly digest: string;
  /** Its payload was erased. */
  readonly erased?: boolean;
  /** The event. Absent without content. Integers beyond 2^53 are text. */
  readonly event?: unknown;
}

/** One run with its spans, rows and related runs: the data of the page of a run. */
export interface RunDetail {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  readonly revision: number;
  readonly run: ViewRun;
  /** The failure in the run and in its child runs that came first. */
  readonly first_failure?: ViewFailure;
  /** Spans of the run and of everything under it, in the order of their start. */
  readonly spans: readonly ViewSpan[];
  /** Audit rows of the run and of its child runs, by thread and ordinal. */
  readonly rows: readonly ViewRow[];
  /** `log`: they are stored in an audit log. `replay`: a replay would write them. `none`: there are no rows. */
  readonly rows_from: "log" | "replay" | "none";
  /** Result of the verification of the log that has its rows. */
  readonly verdict?: ViewVerdict;
  /** Its parent, its child runs, the run that it resumes, and the runs that resume it. */
  readonly related: readonly RelatedRun[];
  /** Whether spans and rows have their content: messages, inputs and outputs of tools, payloads. */
  readonly content: boolean;
  /** The trace in Jaeger. Absent without `--jaeger`. */
  readonly trace_url?: string;
}

/** A failed span, in short. */
export interface ViewFailure {
  readonly span_id: string;
  readonly name: string;
  /** Description of its status: the operator's text, up to 200 characters. */
  readonly message?: string;
  /** When it ended: Unix time in ns. */
  readonly end_ns: string;
}

export interface RelatedRun {
  readonly relation: "parent" | "child" | "resumes" | "resumed_by";
  readonly run_id: string;
  /** Absent if the run is not in the list. */
  readonly key?: string;
  /** The run is in the list under another tenant. Nothing else is said of it here. */
  readonly other_tenant?: true;
  readonly agent?: string;
  readonly outcome?: RunOutcome;
}

/** The document in the file of a report: the list, and each of its runs by key. */
export interface ReportDocument {
  readonly list: RunList;
  readonly details: Readonly<Record<string, RunDetail>>;
  /** Failed runs that are not in the report because of its limits. */
  readonly left_out: number;
}
