import { numberOf, type RunEnd } from "../../../events/door.ts";
import { confirmationPayload, questionPayload } from "./audit-rows.ts";
import type {
  AccountPoolExhausted,
  AccountRotation,
  ContextCompacted,
  QuestionAsked,
  ToolRequiresConfirmation,
} from "./events.ts";
import type { Note } from "./reading.ts";
import { TERMINALS } from "./terminals.ts";

/** Span event of the run: the context was compacted. */
export function compacted(event: ContextCompacted): Note {
  return {
    name: "entelix.context_compacted",
    attributes: {
      "entelix.compaction.original_count": numberOf(event.original_count),
      "entelix.compaction.new_count": numberOf(event.new_count),
      "entelix.compaction.original_tokens": numberOf(event.original_tokens),
      "entelix.compaction.new_tokens": numberOf(event.new_tokens),
    },
  };
}

/** Span event of the model call: the account was switched, or none is left. */
export function accountChanged(event: AccountRotation | AccountPoolExhausted): Note {
  return {
    name: `entelix.${event.type}`,
    on: "model",
    attributes: {
      "gen_ai.provider.name": event.provider,
      "entelix.account.reason": event.reason,
      "entelix.error.retry_after_secs": numberOf(event.retry_after_seconds),
    },
  };
}

/** End of a run whose confirmation is never answered. */
export function confirmationPause(event: ToolRequiresConfirmation): RunEnd {
  const kind = { type: "approval_pending", tool_use_id: event.id } as const;
  const content = confirmationPayload(event);
  return { outcome: TERMINALS.tool_requires_confirmation, kind, content };
}

/** End of a run whose questions are never answered. */
export function questionPause(event: QuestionAsked): RunEnd {
  const content = questionPayload(event);
  return { outcome: TERMINALS.question_asked, kind: { type: "custom" }, content };
}
