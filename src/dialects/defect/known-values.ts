import type { JsonValue } from "../../events/exact-json.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";
import {
  ACP_TOOL_KINDS,
  ACP_TOOL_STATUSES,
  PERMISSION_OPTION_KINDS,
  STOP_REASONS,
} from "./defect-event.ts";

const REASONS: ReadonlySet<string> = new Set(STOP_REASONS);
const TOOL_KINDS: ReadonlySet<string> = new Set(ACP_TOOL_KINDS);
const TOOL_STATUSES: ReadonlySet<string> = new Set(ACP_TOOL_STATUSES);
const OPTION_KINDS: ReadonlySet<string> = new Set(PERMISSION_OPTION_KINDS);
const VERDICTS: ReadonlySet<string> = new Set(["allow", "deny", "ask"]);
const OUTCOMES: ReadonlySet<string> = new Set(["selected", "cancelled"]);

/** An unknown value is quoted up to here, in UTF-16 units. */
const QUOTED_LENGTH = 60;

/**
 * The event with the kind of a verdict or an outcome that a newer agent added replaced by `unknown`.
 * Each value outside a known set is noted in `unknownValues`; those that are plain names stay.
 *
 * The same object when there is nothing to replace, which is nearly always. Values of a wrong type
 * are left for the checks.
 */
export function withKnownValues(value: JsonObject, unknownValues: string[]): JsonObject {
  switch (value.type) {
    case "turn_ended":
      note("reason", value.reason, REASONS, unknownValues);
      return value;
    case "tool_call_started":
    case "tool_call_progress":
    case "tool_call_finished":
      if (isJsonObject(value.fields)) {
        note("fields.kind", value.fields.kind, TOOL_KINDS, unknownValues);
        note("fields.status", value.fields.status, TOOL_STATUSES, unknownValues);
      }
      return value;
    case "policy_decision":
      noteOptions(value.decision, unknownValues);
      return withKnownKind(value, "decision", VERDICTS, unknownValues);
    case "permission_resolved":
      return withKnownKind(value, "outcome", OUTCOMES, unknownValues);
    case "subagent": {
      if (!isJsonObject(value.inner) || value.inner.type === "subagent") return value;
      const inner = withKnownValues(value.inner, unknownValues);
      return inner === value.inner ? value : { ...value, inner };
    }
    default:
      return value;
  }
}

function noteOptions(decision: JsonValue | undefined, unknownValues: string[]): void {
  if (!isJsonObject(decision) || !Array.isArray(decision.options)) return;
  for (const option of decision.options) {
    if (isJsonObject(option)) {
      note("decision.options.kind", option.kind, OPTION_KINDS, unknownValues);
    }
  }
}

function withKnownKind(
  value: JsonObject,
  field: string,
  known: ReadonlySet<string>,
  unknownValues: string[],
): JsonObject {
  const tagged = value[field];
  if (!isJsonObject(tagged)) return value;
  const found = note(`${field}.kind`, tagged.kind, known, unknownValues);
  return found ? { ...value, [field]: { ...tagged, kind: "unknown" } } : value;
}

/** @returns whether the value is a text outside the set. */
function note(
  field: string,
  value: JsonValue | undefined,
  known: ReadonlySet<string>,
  unknownValues: string[],
): boolean {
  if (typeof value !== "string" || known.has(value)) return false;
  unknownValues.push(`${field}=${value.slice(0, QUOTED_LENGTH)}`);
  return true;
}
