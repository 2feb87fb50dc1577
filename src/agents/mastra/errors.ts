import {
  AgentError,
  errorsIn,
  type FailureSource,
  FROM_MODEL,
  FROM_RUN,
  type SourceScope,
  sourceOf,
  textProperty,
  thrownMessage,
} from "../../events/door.ts";
import { type Failure, type Fields, replacementText, textOf } from "../core/door.ts";
import type { RunState } from "./run-state.ts";

/** Builds an error from the copy in a span. */
export function copiedError(info: Fields): Error {
  const error = new Error(textOf(info.message) ?? "no message");
  const name = textOf(info.name);
  const stack = textOf(info.stack);
  if (name !== undefined && name !== "Error") error.name = name;
  if (stack !== undefined) error.stack = stack;
  else delete error.stack;
  return error;
}

/** The source of an error by the domain of Mastra's own errors. */
function domainSource(info: Fields, tool: string | undefined): FailureSource | undefined {
  switch (info.domain) {
    case "LLM":
      return FROM_MODEL;
    case "TOOL":
    case "MCP":
      return { origin: "tool", tool };
    default:
      return undefined;
  }
}

/** The error of a span: the thrown error if it was seen, else a copy. */
export function thrownOf(info: Fields, seen: Iterable<unknown>): unknown {
  const message = textOf(info.message);
  for (const thrown of seen) if (hasMessage(thrown, message)) return thrown;
  return copiedError(info);
}

function hasMessage(thrown: unknown, message: string | undefined): boolean {
  if (message === undefined) return false;
  if (thrown === message) return true;
  for (const error of errorsIn(thrown)) {
    if (textProperty(error, "message") === message) return true;
  }
  return false;
}

/** IDs of Mastra's errors about invalid structured output. Their texts quote the model. */
const OF_OBJECT = /^STRUCTURED_OUTPUT_(?:SCHEMA_VALIDATION_FAILED|OBJECT_UNDEFINED|TRUNCATED)$/;

/** Mastra's own error for an answer with the finish reason `error` and without an error of the provider. */
const OF_ANSWER = /^Agent stream finished with finishReason "error"/;

export function failureOf(run: RunState, info: Fields): Failure {
  if (OF_OBJECT.test(textOf(info.id) ?? "")) {
    const text = "the structured output has not the expected form";
    return { thrown: AgentError.invalidRequest(text), source: FROM_RUN, text };
  }
  const thrown = thrownOf(info, run.errors);
  const scope: SourceScope = { rootRunId: run.active.rootRunId, since: run.since };
  const isOfModel = run.failedModel !== undefined || OF_ANSWER.test(textOf(info.message) ?? "");
  const source =
    sourceOf(thrown, scope) ?? (isOfModel ? FROM_MODEL : domainSource(info, undefined)) ?? FROM_RUN;
  return { thrown, source, text: replacementText(thrown) };
}

/** The text that Mastra gives the model for a tool's error. `null`: not known. */
export function modelText(thrown: unknown): string | null {
  if (typeof thrown === "string") return thrown;
  return thrown instanceof Error ? (thrownMessage(thrown) ?? null) : null;
}
