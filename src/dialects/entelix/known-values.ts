import { FAILURE_KIND_IDS, TOOL_ERROR_KINDS } from "../../errors/error-kinds.ts";
import type { JsonValue } from "../../events/exact-json.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";

const TOOL_KINDS: ReadonlySet<string> = new Set(TOOL_ERROR_KINDS);
const FAILURE_TYPES: ReadonlySet<string> = new Set(FAILURE_KIND_IDS);
const INTERRUPTION_TYPES: ReadonlySet<string> = new Set([
  "custom",
  "approval_pending",
  "scheduled_pause",
]);
const WIRE_CLASSES: ReadonlySet<string> = new Set(["client", "server"]);

/** An unknown value is quoted up to here, in UTF-16 units. */
const QUOTED_LENGTH = 60;

/**
 * The event with values that a newer agent may have added to a closed set replaced by what that set
 * has for them, each noted in `unknownValues`, and with `null` for an optional field taken as absent.
 * So a failure of a kind not known here still closes its run.
 *
 * The same object when there is nothing to replace, which is nearly always. Values of a wrong type are
 * left for the checks.
 */
export function withKnownValues(value: JsonObject, unknownValues: string[]): JsonObject {
  switch (value.type) {
    case "tool_error": {
      const kind = knownToolKind(value.kind, "kind", unknownValues);
      return replaced(withKnownEnvelope(value, unknownValues), "kind", kind);
    }
    case "failed":
    case "model_error": {
      const kind = knownFailureKind(value.kind, unknownValues);
      return replaced(withKnownEnvelope(value, unknownValues), "kind", kind);
    }
    case "interrupted":
      return replaced(value, "kind", knownInterruption(value.kind, unknownValues));
    case "tool_call_denied":
      // What a recording without content has in place of the reason.
      return value.reason === null ? replaced(value, "reason", "") : value;
    default:
      return value;
  }
}

function withKnownEnvelope(value: JsonObject, unknownValues: string[]): JsonObject {
  const { envelope } = value;
  if (!isJsonObject(envelope)) return value;
  let known = envelope;
  for (const field of ["retry_after_secs", "provider_status"]) {
    if (known[field] === null) known = replaced(known, field, undefined);
  }
  const { wire_class } = envelope;
  if (typeof wire_class === "string" && !WIRE_CLASSES.has(wire_class)) {
    note("envelope.wire_class", wire_class, unknownValues);
    known = replaced(known, "wire_class", "server");
  }
  return replaced(value, "envelope", known);
}

function knownToolKind(
  kind: JsonValue | undefined,
  field: string,
  unknownValues: string[],
): JsonValue | undefined {
  if (kind === null) return undefined;
  if (typeof kind !== "string" || TOOL_KINDS.has(kind)) return kind;
  note(field, kind, unknownValues);
  return "internal";
}

function knownFailureKind(
  kind: JsonValue | undefined,
  unknownValues: string[],
): JsonValue | undefined {
  if (kind === null) return undefined;
  if (!isJsonObject(kind) || typeof kind.type !== "string") return kind;
  if (!FAILURE_TYPES.has(kind.type)) {
    note("kind.type", kind.type, unknownValues);
    return { type: "unclassified" };
  }
  if (kind.type !== "tool_error_terminal") return kind;
  return replaced(kind, "kind", knownToolKind(kind.kind, "kind.kind", unknownValues));
}

function knownInterruption(
  kind: JsonValue | undefined,
  unknownValues: string[],
): JsonValue | undefined {
  if (!isJsonObject(kind) || typeof kind.type !== "string") return kind;
  if (INTERRUPTION_TYPES.has(kind.type)) return kind;
  note("kind.type", kind.type, unknownValues);
  return { type: "custom" };
}

function note(field: string, value: string, unknownValues: string[]): void {
  unknownValues.push(`${field}=${value.slice(0, QUOTED_LENGTH)}`);
}

/** `object` with one field set, or taken out (`undefined`); itself when that changes nothing. */
function replaced(object: JsonObject, field: string, value: JsonValue | undefined): JsonObject {
  if (object[field] === value) return object;
  if (value !== undefined) return { ...object, [field]: value };
  const { [field]: _, ...rest } = object;
  return rest;
}
