import { textProperty } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import type { CallState } from "./call-state.ts";
import type { Calls } from "./calls.ts";
import type { RecordedSpan } from "./recorded-span.ts";
import { contentOn, parsed } from "./span-events.ts";
import type { SpanRun } from "./span-run.ts";
import { isShown, shownIn } from "./span-tools.ts";
import { reportedAs } from "./tool-calls.ts";

/** Errors that the SDK treats as an abort. */
const ABORTS: ReadonlySet<unknown> = new Set(["AbortError", "ResponseAborted", "TimeoutError"]);

/** Ends calls of the AI SDK 6. */
export class SpanOutcomes {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Reports the calls of the last answer that the SDK refused. Earlier calls may have had the same IDs. */
  #refusedAtLast(run: SpanRun, state: CallState, content: unknown): void {
    for (const call of run.asked) state.reported.delete(reportedAs({ ...call }));
    this.#calls.tools.refusedIn(state, content);
  }

  /** `generateText` or `generateObject` returned. */
  returned(run: SpanRun, state: CallState, span: RecordedSpan, value: unknown): void {
    const shows = isShown(run, span);
    const result = fieldsOf(value);
    const steps = listOf(result?.steps);
    const contents = steps?.map((step) => shownIn(fieldsOf(step)?.content, shows));
    for (const content of contents?.slice(0, -1) ?? []) this.#calls.tools.refusedIn(state, content);
    this.#refusedAtLast(run, state, contents?.at(-1));
    this.#calls.ended(state, {
      callId: run.callId,
      finishReason: span.get("ai.response.finishReason"),
      finalStep: { content: contents?.at(-1) ?? contentOn(span) },
      object: shows ? result?.object : undefined,
    });
  }

  /** The call, or the start of a stream, failed. */
  threw(run: SpanRun, state: CallState, thrown: unknown): void {
    if (ABORTS.has(textProperty(thrown, "name"))) this.#calls.aborted(run, state, thrown);
    else this.#calls.failed(run, state, thrown);
  }

  /** A stream was read completely or aborted. The SDK reports both in the same way. */
  streamEnded(run: SpanRun, state: CallState, span: RecordedSpan): void {
    const shown = textOf(span.get("ai.response.finishReason"));
    const reason = run.operationId === "ai.streamObject" ? run.lastReason : shown;
    const isModels = reason === undefined || reason === "error";
    const failure = state.model?.error ?? (isModels ? state.modelError : undefined);
    if (failure !== undefined) this.threw(run, state, failure.thrown);
    else if (isCut(run, state, reason)) this.#calls.aborted(run, state, stopReason(state));
    else this.#ended(run, state, span, reason);
  }

  #ended(run: SpanRun, state: CallState, span: RecordedSpan, finishReason: string | undefined) {
    const shows = isShown(run, span);
    const content = run.content === undefined ? contentOn(span) : shownIn(run.content, shows);
    this.#refusedAtLast(run, state, content.concat(content.flatMap(invalidIn)));
    const object = parsed(span.get("ai.response.object"));
    const finalStep = { content };
    this.#calls.ended(state, { callId: run.callId, finishReason, finalStep, object });
  }
}

/** Whether a signal ended the call: parts of it are open, or the model's last finish reason is missing. */
function isCut(run: SpanRun, { model, writer }: CallState, reason: string | undefined): boolean {
  return (
    model !== undefined || writer.open.size > 0 || reason === undefined || reason !== run.lastReason
  );
}

/** The reason of the signal that fired, if the SDK shows it. */
function stopReason({ signals }: CallState): unknown {
  return [...signals].find(({ aborted }) => aborted)?.reason;
}

/** A call that the SDK refused, as the attributes of a stream show it. */
function invalidIn(part: Fields): readonly Fields[] {
  const { input, invalid, toolCallId, toolName, type } = part;
  if (type !== "tool-call" || invalid !== true) return [];
  return [{ type: "tool-error", toolCallId, toolName, input }];
}
