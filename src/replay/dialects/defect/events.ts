import {
  asOne,
  count,
  type Form,
  flag,
  type Infer,
  isCount,
  isObject,
  json,
  list,
  nullish,
  openWord,
  optional,
  record,
  tagged,
  text,
  value,
} from "../../../events/door.ts";
import type { JsonObject } from "../dialect.ts";

/** A block of a prompt or of model output, as the Agent Client Protocol has it, tagged by `type`. */
export type AcpContentBlock = JsonObject & { readonly type: string };

const block: Form<AcpContentBlock> = {
  ...record({ type: text }, 'a content block such as {"type":"text","text":"…"}'),
  fits: (given): given is AcpContentBlock => isObject(given) && typeof given.type === "string",
};

const object = value("an object", (given): given is JsonObject => isObject(given));

/** Why a turn ended, of those that this version knows. */
export const STOP_REASONS = [
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
] as const;

export type StopReason = (typeof STOP_REASONS)[number];

/**
 * What is new of a tool call. Upstream: `ToolCallUpdateFields` of the Agent Client Protocol, the one
 * type here whose fields are in camelCase. What is not set is left out; `null` is as good as absent.
 */
const toolCallFields = record(
  {
    kind: nullish(
      openWord([
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
      ]),
    ),
    status: nullish(openWord(["pending", "in_progress", "completed", "failed"])),
    title: nullish(text),
    /** Output for people, tagged by `type`: `content`, `diff`, `terminal`. */
    content: nullish(asOne(list(object), "a list of objects")),
    locations: nullish(asOne(list(object), "a list of objects")),
    rawInput: optional(json),
    rawOutput: optional(json),
  },
  'an object such as {"status":"pending"}',
);

/** Tokens as the provider counted them; `null` where it did not say. */
const usage = record(
  {
    input_tokens: nullish(count),
    output_tokens: nullish(count),
    cache_read_input_tokens: nullish(count),
    cache_creation_input_tokens: nullish(count),
  },
  "a usage object",
);

/** One answer that a permission request offers. */
const permissionOption = record(
  {
    id: text,
    name: text,
    kind: openWord(["allow_once", "allow_always", "reject_once", "reject_always"]),
    allows: flag,
  },
  "an object with id, name, kind and allows",
);

/** What a newer agent added to a union. */
const UNKNOWN = {
  expectedTag: "text",
  reserved: "unknown",
  adaptUnknown: (given: object) => ({ ...given, kind: "unknown" }),
};

/** What the policy said of a call. Asking without options denies. */
const verdict = tagged(
  "kind",
  {
    allow: record({}),
    deny: record({}),
    ask: record({ options: list(permissionOption, "a list of options") }),
    unknown: record({}),
  },
  { expected: 'an object such as {"kind":"allow"}', ...UNKNOWN },
);

/** How a permission request ended. */
const outcome = tagged(
  "kind",
  { selected: record({ option_id: text }), cancelled: record({}), unknown: record({}) },
  { expected: 'an object such as {"kind":"cancelled"}', ...UNKNOWN },
);

/** An attempt at a model call. */
const attempted = {
  model: text,
  attempt: value(
    "a whole number from 1 below 2^53",
    (given): given is number => isCount(given) && given >= 1,
  ),
};

const tokens = { tokens_before: count, tokens_after: count };

const leafForms = {
  turn_started: record({}),
  /** Comes before `turn_started`; a turn that a background agent's result starts has one too. */
  user_prompt_committed: record({ content: list(block, "a list of content blocks") }),
  /** The usage is that of the turn's own model calls, without those of its sub-agents. */
  turn_ended: record({ reason: openWord(STOP_REASONS), usage: nullish(usage) }),
  /** The turn failed and was taken back out of the history. There is no `turn_ended` then. */
  turn_aborted: record({}),
  /** A streamed piece of the answer. */
  assistant_text: record({ content: block }),
  /** A streamed piece of the model's thinking. */
  assistant_thought: record({ content: block }),
  /**
   * A call begins; or, with status `failed` for a call that is open, it was denied. The name is empty
   * in the second start of a denied call of older versions.
   */
  tool_call_started: record({ id: text, name: text, fields: toolCallFields }),
  tool_call_progress: record({ id: text, fields: toolCallFields }),
  tool_call_finished: record({ id: text, fields: toolCallFields }),
  policy_decision: record({ id: text, decision: verdict }),
  permission_resolved: record({ id: text, outcome }),
  llm_call_started: record(attempted),
  /** The end of an attempt. It does not come when the stream breaks or the turn is cancelled. */
  llm_call_finished: record({ ...attempted, usage: nullish(usage), error: nullish(text) }),
  /** The context was summarised. It may come outside a turn. */
  context_compressed: record(tokens),
  /** Old tool results were cleared out of the context, so many. */
  context_microcompacted: record({ ...tokens, cleared: count }),
};

const leaf = tagged("type", leafForms, {
  expected: 'an event such as {"type":"turn_started"}',
  expectedTag: "the type of an event that is no subagent",
});

/** Far deeper than agents nest; what is longer is no path. */
const MOST_LEVELS = 256;

/** Ids of the spawning calls, from the session's own down; none: the session's own turn. */
const ancestorPath = value(
  `a list of at most ${MOST_LEVELS} call ids`,
  (given): given is readonly string[] =>
    Array.isArray(given) &&
    given.length <= MOST_LEVELS &&
    given.every((id) => typeof id === "string"),
);

/** An event of a sub-agent, told by the session that runs it; without ancestors, of the session itself. */
const subagent = {
  ...record({ ancestor_path: ancestorPath, agent_type: text, inner: leaf }),
  /** An unknown value is reported as it is outside of sub-agents. */
  adapt(given: unknown, found: string[]): unknown {
    if (!isObject(given)) return given;
    const inner = leaf.adapt?.(given.inner, found);
    return inner === given.inner ? given : { ...given, inner };
  },
};

/**
 * What defect-agent says of a session, tagged by `type`; fields named as on the wire.
 *
 * Upstream: `AgentEvent` of defect-agent 0.1.0-alpha.6. Its events have no time, session or id of
 * their own; those come with the envelope.
 */
export const DEFECT_EVENTS = tagged("type", { ...leafForms, subagent });

export type DefectEvent = Infer<typeof DEFECT_EVENTS>;

/** An event of a session itself, or of a sub-agent. */
export type LeafEvent = Infer<typeof leaf>;

type LeafOf<T extends LeafEvent["type"]> = Extract<LeafEvent, { readonly type: T }>;

export type UserPromptCommitted = LeafOf<"user_prompt_committed">;
export type TurnEnded = LeafOf<"turn_ended">;
export type TurnAborted = LeafOf<"turn_aborted">;
export type ToolCallStarted = LeafOf<"tool_call_started">;
export type LlmCallStarted = LeafOf<"llm_call_started">;
export type LlmCallFinished = LeafOf<"llm_call_finished">;
export type ContextCompressed = LeafOf<"context_compressed">;
export type ContextMicrocompacted = LeafOf<"context_microcompacted">;

export type DefectUsage = Infer<typeof usage>;
export type PermissionOption = Infer<typeof permissionOption>;
export type PermissionOutcome = Infer<typeof outcome>;
export type PolicyVerdict = Infer<typeof verdict>;
export type ToolCallFields = Infer<typeof toolCallFields>;

/** Every event type that this version knows. */
export const DEFECT_EVENT_TYPES: readonly string[] = [...DEFECT_EVENTS.variants.keys()];
