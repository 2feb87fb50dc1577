import { CONVENTIONS_ATTRIBUTES } from "./semconv-conventions.ts";
import { OWN_ATTRIBUTES } from "./semconv-entelix.ts";

/**
 * Every attribute that this package sets. `docs/attributes.md` is generated from this table, and the compiler checks
 * every use against it.
 */
export const ATTRIBUTES: typeof CONVENTIONS_ATTRIBUTES & typeof OWN_ATTRIBUTES =
  // Pure: a bundle leaves the table out, since only tests and the pages read it.
  /* @__PURE__ */ Object.assign({}, CONVENTIONS_ATTRIBUTES, OWN_ATTRIBUTES);

/** A placeholder for any number of names. */
type Template = "entelix.run.metadata.<name>";

/** The name of an attribute of this package. */
export type AttributeName =
  | Exclude<keyof typeof ATTRIBUTES, Template>
  | `entelix.run.metadata.${string}`;

/** The types of attribute values that this package sets. */
type AttributeValue = string | number | boolean | string[] | number[];

/** A set of attributes. A name that is not in the table does not compile. */
export type KnownAttributes = { [N in AttributeName]?: AttributeValue | undefined };

/** Span events of runtimes other than entelix, for points in a run's life. */
export const SPAN_EVENTS = {
  "entelix.approval_asked": "A tool call asked for leave.",
  "entelix.retry": "An attempt of a model call failed, and another follows.",
  "entelix.user_input": "The user spoke while the run was on.",
  "entelix.context_compacted": "The context was compacted.",
  "entelix.account_rotation": "The provider's account was changed.",
  "entelix.account_pool_exhausted": "No account of the provider was left.",
  "entelix.handoff": "A supervisor passed control on.",
  "entelix.sub_agent": "A sub-agent with a log of its own was invoked.",
  "entelix.memory_recall": "A memory tier was asked.",
  "entelix.checkpoint": "A checkpoint was stored.",
  "entelix.resumed": "The run was resumed from a checkpoint.",
  "entelix.branch": "A branch left the thread.",
  "entelix.rate_limit": "The provider said what was left.",
  "entelix.warning": "The model's codec warned.",
  "entelix.error": "An error was recorded.",
  "entelix.graph.erased": "A row whose payload was erased.",
  "entelix.graph.unknown": "A row of a kind that is not known here.",
} as const satisfies Record<string, string>;

/** Log records: about runs with the option `progress`, about model calls where there is a logger provider. */
export const LOG_EVENTS = {
  "entelix.run.start": "The run started, or continued after a pause.",
  "entelix.run.progress": "The run is open. One record at each interval.",
  "entelix.run.end": "The run ended or paused.",
  "gen_ai.client.inference.operation.details":
    "A model call ended. It has the attributes of its span, at severity DEBUG.",
} as const satisfies Record<string, string>;

/** The name of a log record. */
export type LogEvent = keyof typeof LOG_EVENTS;

/** Names of spans and span events without a `gen_ai` operation. */
export const MARKER_SPAN = "entelix.run.open";
export const APPROVAL_EVENT = "entelix.approval";
export const EXCEPTION_EVENT = "exception";
