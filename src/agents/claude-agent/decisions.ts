import type { DecisionDetails } from "../../events/door.ts";
import { type Fields, fieldsOf, personOf, type ToolDecision, textOf } from "../core/door.ts";
import type { ClaudeAgentOptions, QueryMetadata } from "./options.ts";

/** A decision about a call, with the details of its event. */
export interface Decided {
  readonly isAllowed: boolean;
  /** Content: the reason of a denial. */
  readonly reason: string;
  /** Content: the changed input. Absent if it is unchanged. */
  readonly input?: unknown;
  readonly details: DecisionDetails;
}

export interface DecidedCall {
  readonly tool: string;
  readonly toolUseId: string;
  /** Content: the input from the model. */
  readonly input: unknown;
}

/**
 * Reads the decision of `canUseTool`.
 *
 * @returns `undefined` if there is no decision.
 */
export function canUseToolDecision(
  result: unknown,
  call: DecidedCall,
  waitMs: number,
  options: Pick<ClaudeAgentOptions, "decidedBy" | "permissionsBy">,
  metadata: QueryMetadata,
  onError: (error: unknown) => void,
): Decided | undefined {
  const fields = fieldsOf(result);
  const isAllowed = fields?.behavior === "allow";
  if (fields === undefined || (!isAllowed && fields.behavior !== "deny")) return undefined;
  const by = options.permissionsBy ?? "user";
  const reason = isAllowed ? "" : (textOf(fields.message) ?? "");
  const edit = isAllowed ? editOf(fields, call) : undefined;
  const outcome = isAllowed ? (edit === undefined ? "approved" : "edited") : "denied";
  const { tool, toolUseId } = call;
  const decision: ToolDecision = { outcome, tool, toolUseId, reason };
  const person =
    by === "user" ? personOf(options.decidedBy, decision, metadata, onError) : undefined;
  return {
    isAllowed,
    reason,
    ...edit,
    details: {
      outcome,
      by,
      wait_ms: Math.max(0, Math.round(waitMs)),
      ...(person === undefined ? {} : { person }),
      ...(edit === undefined ? {} : { proposed_input: call.input }),
    },
  };
}

/** Reads the decision of an application's hook `PreToolUse` or `PermissionRequest`. It counts as a rule. */
export function hookDecision(output: unknown, call: DecidedCall): Decided | undefined {
  const whole = fieldsOf(output);
  const specific = fieldsOf(whole?.hookSpecificOutput);
  const requested = fieldsOf(specific?.decision);
  const word = requested?.behavior ?? specific?.permissionDecision ?? OLDER.get(whole?.decision);
  if (word !== "allow" && word !== "deny") return undefined;
  if (word === "deny") {
    const reason =
      textOf(requested?.message) ??
      textOf(specific?.permissionDecisionReason) ??
      textOf(whole?.reason);
    return deniedByPolicy(reason ?? "");
  }
  const edit = editOf(requested ?? specific ?? {}, call);
  return {
    isAllowed: true,
    reason: "",
    ...edit,
    details: {
      outcome: edit === undefined ? "approved" : "edited",
      by: "policy",
      ...(edit === undefined ? {} : { proposed_input: call.input }),
    },
  };
}

/** Words of older hooks. */
const OLDER: ReadonlyMap<unknown, string> = new Map([
  ["approve", "allow"],
  ["block", "deny"],
]);

export function deniedByPolicy(reason: string): Decided {
  return { isAllowed: false, reason, details: { outcome: "denied", by: "policy" } };
}

/** The changed input, if a decision has one. */
function editOf(fields: Fields, { input }: DecidedCall): { readonly input: unknown } | undefined {
  const { updatedInput } = fields;
  if (updatedInput === undefined || updatedInput === null) return undefined;
  return isSame(updatedInput, input) ? undefined : { input: updatedInput };
}

/** Compares JSON. A value that is not JSON counts as changed. */
export function isSame(one: unknown, other: unknown): boolean {
  try {
    return canonical(one) === canonical(other);
  } catch {
    return false;
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
