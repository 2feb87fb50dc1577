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

/** A content block of the Agent Client Protocol, tagged by `type`. */
export type AcpContentBlock = JsonObject & { readonly type: string };

const block: Form<AcpContentBlock> = {
  ...record({ type: text }, 'a content block such as {"type":"text","text":"…"}'),
  fits: (given): given is AcpContentBlock => isObject(given) && typeof given.type === "string",
};

const object = value("an object", (given): given is JsonObject => isObject(given));

/** Known reasons for the end of a turn. */
export const STOP_REASONS = [
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
] as const;

export type StopReason = (typeof STOP_REASONS)[number];

/**
 * New fields of a tool call. Upstream: `ToolCallUpdateFields` of the Agent Client Protocol, the only type here with
 * fields in camelCase. Unset fields are absent or `null`.
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
    /** Output for users, tagged by `type`: `content`, `diff`, `terminal`. */
    content: nullish(asOne(list(object), "a list of objects")),
    locations: nullish(asOne(list(object), "a list of objects")),
    rawInput: optional(json),
    rawOutput: optional(json),
  },
  'an object such as {"status":"pending"}',
);

/** Tokens as counted by the provider. `null` if not reported. */
const usage = record(
  {
    input_tokens: nullish(count),
    output_tokens: nullish(count),
    cache_read_input_tokens: nullish(count),
    cache_creation_input_tokens: nullish(count),
  },
  "a usage object",
);

/** One possible answer to a permission request. */
const permissionOption = record(
  {
    id: text,
    name: text,
    kind: openWord(["allow_once", "allow_always", "reject_once", "reject_always"]),
    allows: flag,
  },
  "an object with id, name, kind and allows",
);

/** Replacement of union members of newer agents. */
const UNKNOWN = {
  expectedTag: "text",
  reserved: "unknown",
  adaptUnknown: (given: object) => ({ ...given, kind: "unknown" }),
};

/** Decision of the policy on a call. `ask` without options denies it. */
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

/** Outcome of a permission request. */
const outcome = tagged(
  "kind",
  { selected: record({ option_id: text }), cancelled: record({}), unknown: record({}) },
  { expected: 'an object such as {"kind":"cancelled"}', ...UNKNOWN },
);

/** One attempt of a model call. */
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
  /** Comes before `turn_started`, also in a turn that a background agent's result starts. */
  user_prompt_committed: record({ content: list(block, "a list of content blocks") }),
  /** The usage covers the turn's own model calls, not those of sub-agents. */
  turn_ended: record({ reason: openWord(STOP_REASONS), usage: nullish(usage) }),
  /** The turn failed and was removed from the history. There is no `turn_ended`. */
  turn_aborted: record({}),
  /** A streamed part of the answer. */
  assistant_text: record({ content: block }),
  /** A streamed part of the model's thinking. */
  assistant_thought: record({ content: block }),
  /**
   * A call begins. With status `failed` for an open call: it was denied. Older versions leave the name of this second
   * start empty.
   */
  tool_call_started: record({ id: text, name: text, fields: toolCallFields }),
  tool_call_progress: record({ id: text, fields: toolCallFields }),
  tool_call_finished: record({ id: text, fields: toolCallFields }),
  policy_decision: record({ id: text, decision: verdict }),
  permission_resolved: record({ id: text, outcome }),
  llm_call_started: record(attempted),
  /** The end of an attempt. It is missing if the stream breaks or the turn is cancelled. */
  llm_call_finished: record({ ...attempted, usage: nullish(usage), error: nullish(text) }),
  /** The context was summarised. Possible outside a turn. */
  context_compressed: record(tokens),
  /** `cleared` old tool results were removed from the context. */
  context_microcompacted: record({ ...tokens, cleared: count }),
};

const leaf = tagged("type", leafForms, {
  expected: 'an event such as {"type":"turn_started"}',
  expectedTag: "the type of an event that is no subagent",
});

/** Far deeper than agents nest. */
const MOST_LEVELS = 256;

/** IDs of the spawning calls, outermost first. Empty: the session's own turn. */
const ancestorPath = value(
  `a list of at most ${MOST_LEVELS} call ids`,
  (given): given is readonly string[] =>
    Array.isArray(given) &&
    given.length <= MOST_LEVELS &&
    given.every((id) => typeof id === "string"),
);

/** An event of a sub-agent, reported by its session. Without ancestors it is the session's own event. */
const subagent = {
  ...record({ ancestor_path: ancestorPath, agent_type: text, inner: leaf }),
  /** Unknown values are reported as outside sub-agents. */
  adapt(given: unknown, found: string[]): unknown {
    if (!isObject(given)) return given;
    const inner = leaf.adapt?.(given.inner, found);
    return inner === given.inner ? given : { ...given, inner };
  },
};

/**
 * Every event of a defect-agent session, tagged by `type`, with fields named as on the wire.
 *
 * Upstream: `AgentEvent` of defect-agent 0.1.0-alpha.6. Time, session and ID of an event are in the envelope.
 */
export const DEFECT_EVENTS = tagged("type", { ...leafForms, subagent });

export type DefectEvent = Infer<typeof DEFECT_EVENTS>;

/** An event of a session or of a sub-agent. */
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

/** Every known event type. */
export const DEFECT_EVENT_TYPES: readonly string[] = [...DEFECT_EVENTS.variants.keys()];
