import { v7 as uuidv7 } from "uuid";
import type { AgentEvent } from "../agent-event.ts";
import { boundedJson } from "../bounded-json.ts";
import { now } from "../clock.ts";
import type { ExceptionDetails } from "../errors/exception-of.ts";
import type { EventDetails } from "../event-details.ts";
import { type EventEnvelope, isTraceparent, SequenceCounter } from "../event-envelope.ts";
import { formatRfc3339, type Instant, isSpanTime, parseRfc3339, TIME_ANSWER } from "../instant.ts";
import { checkBoolean, checkFunction, having, isWholeNumber, wholeFrom } from "../option-checks.ts";
import { lookForHidden, withoutAdded } from "../polluted-prototype.ts";
import { checkEach, checkedElsewhere, type OptionChecks } from "../unknown-options.ts";
import { answerOf } from "../users-functions.ts";
import { CONTENT_FORMS, MOST_CONTENT_BYTES, MOST_NAME } from "../value-limits.ts";
import type { AgentEventSink, ClosableSink } from "./agent-event-sink.ts";
import { type RecordedLine, recordedLine } from "./recorded-line.ts";
import { type RecordingTarget, RecordingWriter } from "./recording-writer.ts";
import { type RedactionHook, redacted } from "./redaction.ts";

/** Provides data of a run that its events do not contain. A `Bridge` does. */
export interface ProvenanceSource {
  provenanceOf(tenantId: string, runId: string): EventEnvelope | undefined;
}

/** The target and the options of a recording. */
export type RecorderSinkOptions = RecordingTarget & {
  /**
   * Provides, at each `started`, data that the event does not contain, so that a replay gives the run the same
   * parent. Register the recorder after this source, because the source must know the run by then.
   */
  readonly source?: ProvenanceSource | undefined;
  /** Whether content is recorded. If not, it is `null` in the recording. Default `true`. */
  readonly content?: boolean | undefined;
  /**
   * Redacts content and the operator's error text before they are written. `attribute` is the event's field. If the
   * hook throws or returns a promise, a fixed text is recorded.
   */
  readonly redact?: RedactionHook | undefined;
  /** Read once for an event without a time. Default, and if it fails: the system's time. */
  readonly clock?: (() => Readonly<Instant>) | undefined;
  /** Most bytes that wait to be written. Above it, `send` fails. Default 64 MiB. */
  readonly maxBufferedBytes?: number | undefined;
};

/** Counts of a recorder. */
export interface RecorderDiagnostics {
  /** Events that were written to the file or stream. */
  readonly recorded: number;
  /**
   * Events that were not recorded because the file or stream had failed or was too far behind, or
   * because the event threw when it was read.
   */
  readonly refused: number;
  /** Recorded events with a value that was cut: a line has at most 16 MiB, and a value of an audit row 12 MiB. */
  readonly cut: number;
  /** Envelope fields that were left out or replaced because no reader would accept them. */
  readonly badEnvelopeFields: number;
  /** Errors of `redact`, `clock` and the source. */
  readonly hookFailures: number;
}

const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Fields that identify an event of any type. */
const NAMES = new Set([
  "type",
  "run_id",
  "tenant_id",
  "parent_run_id",
  "agent",
  "tool_use_id",
  "tool",
  "tool_version",
  "model_call_id",
  "model",
  "step_id",
]);

/** Envelope fields that are recorded unchanged, besides the IDs and the time. */
const CONTEXT_FIELDS = [
  "thread_id",
  "session_id",
  "root_run_id",
  "resumed_from_run_id",
  "parent_tool_use_id",
  "traceparent",
  "tracestate",
] as const satisfies readonly (keyof EventEnvelope)[];

/**
 * Writes events to a file or stream as NDJSON. `replay` reads them and makes the same spans as the
 * live events.
 *
 * `send` encodes the event and returns a promise only while the file or stream is full. After a
 * failed write, every `send` and `forceFlush` fails with that error.
 *
 * @example
 * const recorder = new RecorderSink({ path: "events.ndjson", source: bridge });
 * agent.addSink(new FanOutSink([bridge, recorder]));
 */
export class RecorderSink<S = unknown> implements AgentEventSink<S>, ClosableSink {
  readonly #options: RecorderSinkOptions;
  readonly #writer: RecordingWriter;
  readonly #sequence = new SequenceCounter();
  #recorded = 0;
  #refused = 0;
  #cut = 0;
  #badEnvelopeFields = 0;
  #hookFailures = 0;

  /**
   * @throws the system's error if the file cannot be opened.
   * @throws TypeError if an option is of another type.
   * @throws RangeError if `maxBufferedBytes` is not a whole number from 1.
   */
  constructor(given: RecorderSinkOptions) {
    lookForHidden();
    this.#options = checkTypes(given);
    const { maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES } = this.#options;
    this.#writer = new RecordingWriter(this.#options, maxBufferedBytes);
  }

  send(event: AgentEvent<S>, envelope?: EventEnvelope): void | Promise<void> {
    let line: RecordedLine | undefined;
    try {
      line = this.#lineOf(withoutAdded(event), withoutAdded(envelope));
    } catch {
      // A value that cannot be read is not an event, so its sender gets no error.
    }
    if (line === undefined) {
      this.#refused += 1;
      return undefined;
    }
    try {
      const room = this.#writer.write(line.text);
      this.#recorded += 1;
      if (line.cut) this.#cut += 1;
      return room;
    } catch (error) {
      this.#refused += 1;
      throw error;
    }
  }

  /** Resolves when all events so far were written to the operating system. */
  forceFlush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Flushes and closes the file. A stream stays open. Later events are refused. */
  shutdown(): Promise<void> {
    return this.#writer.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  diagnostics(): RecorderDiagnostics {
    return {
      recorded: this.#recorded,
      refused: this.#refused,
      cut: this.#cut,
      badEnvelopeFields: this.#badEnvelopeFields,
      hookFailures: this.#hookFailures,
    };
  }

  #lineOf(event: AgentEvent<S>, envelope: EventEnvelope | undefined): RecordedLine | undefined {
    const id = this.#eventIdOf(envelope);
    const ids = {
      event_id: id ?? uuidv7(),
      sequence: this.#sequenceOf(envelope),
      timestamp: this.#timeOf(envelope),
    };
    const context = this.#contextOf(event, envelope);
    const given = envelope?.details ?? undefined;
    return recordedLine({
      // Twice, so that they come first and no field of the event replaces them.
      fields: { ...ids, ...event, ...this.#shownOf(event), ...context, details: undefined, ...ids },
      details: given && { ...this.#detailsOf(event, given), recorder: undefined },
      recorder: { ...given?.recorder, ...(id === undefined ? { event_id_added: true } : {}) },
      type: event.type,
    });
  }

  /** `undefined` if the event was sent without one. */
  #eventIdOf(envelope: EventEnvelope | undefined): string | undefined {
    const id: unknown = envelope?.event_id;
    if (isText(id)) return id;
    if (id !== undefined && id !== null) this.#badEnvelopeFields += 1;
    return undefined;
  }

  #sequenceOf(envelope: EventEnvelope | undefined): number | bigint {
    const sequence = envelope?.sequence;
    if (sequence !== undefined) {
      if (isWholeNumber(sequence)) return sequence;
      this.#badEnvelopeFields += 1;
    }
    return this.#sequence.next();
  }

  #timeOf(envelope: EventEnvelope | undefined): string {
    const given = envelope?.timestamp;
    if (given !== undefined) {
      const text = typeof given === "string" ? given : writtenInstant(given);
      const time = text === undefined ? undefined : parseRfc3339(text);
      // Readers reject an event with a time that a span cannot have.
      if (text !== undefined && time !== undefined && isSpanTime(time)) return text;
      this.#badEnvelopeFields += 1;
    }
    const { clock = now } = this.#options;
    const failed = () => {
      this.#hookFailures += 1;
    };
    return formatRfc3339(answerOf(TIME_ANSWER, clock, failed) ?? now());
  }

  #contextOf(event: AgentEvent<S>, envelope: EventEnvelope | undefined): EventEnvelope {
    const known = event.type === "started" ? this.#provenanceOf(event) : undefined;
    const context: { [K in (typeof CONTEXT_FIELDS)[number]]?: string } = {};
    if (envelope === undefined && known === undefined) return context;
    for (const field of CONTEXT_FIELDS) {
      const value: unknown = envelope?.[field] ?? known?.[field];
      if (value === undefined || value === null) continue;
      if (isText(value) && (field !== "traceparent" || isTraceparent(value))) {
        context[field] = value;
      } else this.#badEnvelopeFields += 1;
    }
    const isInNoCall =
      envelope?.parent_tool_use_id === null && context.parent_tool_use_id === undefined;
    return isInNoCall ? { ...context, parent_tool_use_id: null } : context;
  }

  #provenanceOf(event: AgentEvent<S>): EventEnvelope | undefined {
    try {
      return this.#options.source?.provenanceOf(event.tenant_id, event.run_id);
    } catch {
      this.#hookFailures += 1;
      return undefined;
    }
  }

  /** The fields of the event with users' data, in their recorded form. */
  #shownOf(event: AgentEvent<S>): Readonly<Record<string, unknown>> {
    switch (event.type) {
      case "tool_start":
        return { input: this.#content(event.input, "input", event) };
      case "tool_complete":
        return { output: this.#content(event.output, "output", event) };
      case "tool_call_denied":
        return { reason: textOf(this.#content(event.reason, "reason", event)) };
      case "complete":
        return { state: this.#content(event.state, "state", event) };
      case "interrupted":
        return { payload: this.#content(event.payload, "payload", event) };
      case "tool_error":
      case "failed":
      case "model_error":
      case "step_error":
        return { error: textOf(this.#redacted(event.error, "error", event) ?? "") };
      case "model_start":
        return this.#givenContents(event, ["input", "system_instructions", "tools"], event);
      case "model_complete": {
        const fields = ["input", "system_instructions", "tools", "output"] as const;
        return this.#givenContents(event, fields, event);
      }
      case "step_start":
        return this.#givenContents(event, ["input"], event);
      case "step_complete":
        return this.#givenContents(event, ["output"], event);
      case "started":
      case "tool_call_asked":
      case "tool_call_approved":
        return {};
      default:
        return this.#unknownOf(event satisfies never);
    }
  }

  /** The content fields of a newer agent's event are unknown. So every field but its names counts as content. */
  #unknownOf(event: AgentEvent<S>): Readonly<Record<string, unknown>> {
    const shown: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(event)) {
      if (NAMES.has(field) || value === undefined) continue;
      shown[field] = this.#content(value, field, event);
    }
    return shown;
  }

  /** The envelope's details, without content that must not be recorded. */
  #detailsOf(event: AgentEvent<S>, details: EventDetails): EventDetails {
    const { decision, exception } = details;
    const fields = this.#givenContents(details, ["input", "output"], event);
    return {
      ...details,
      ...fields,
      ...(decision === undefined
        ? {}
        : {
            decision: {
              ...decision,
              ...this.#givenContents(decision, ["reason", "proposed_input"], event),
            },
          }),
      ...(exception === undefined ? {} : { exception: this.#exceptionOf(event, exception) }),
    };
  }

  /** Operator text, like `error`. */
  #exceptionOf(event: AgentEvent<S>, exception: ExceptionDetails): ExceptionDetails {
    const { message, stacktrace, type } = exception;
    const shown = (text: string, field: string) =>
      textOf(this.#redacted(text, `exception.${field}`, event) ?? "") ?? "";
    return {
      type,
      ...(message === undefined ? {} : { message: shown(message, "message") }),
      ...(stacktrace === undefined ? {} : { stacktrace: shown(stacktrace, "stacktrace") }),
    };
  }

  /** Optional content. Absent content is not recorded. */
  #givenContents<T extends object>(
    from: T,
    fields: readonly (keyof T & string)[],
    event: AgentEvent<S>,
  ): Readonly<Record<string, unknown>> {
    const shown: Record<string, unknown> = {};
    for (const field of fields) {
      const value: unknown = from[field];
      if (value !== undefined) shown[field] = this.#content(value, field, event);
    }
    return shown;
  }

  #content(value: unknown, field: string, event: AgentEvent<S>): unknown {
    if (this.#options.content === false) return null;
    return this.#redacted(value, field, event) ?? null;
  }

  #redacted(value: unknown, attribute: string, event: AgentEvent<S>): unknown {
    const { redact } = this.#options;
    if (redact === undefined) return value;
    const field = {
      attribute,
      tenantId: event.tenant_id,
      runId: event.run_id,
      ...("tool" in event ? { tool: event.tool } : {}),
    };
    return redacted(redact, value, field, () => {
      this.#hookFailures += 1;
    });
  }
}

/** Untyped programs may send numbers as IDs. Readers accept only texts, up to a limit. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MOST_NAME;
}

const RECORDED = { ...CONTENT_FORMS, bytes: MOST_CONTENT_BYTES };

/** The result of a redaction hook for a text, as text. `null` stays. */
function textOf(shown: unknown): string | null {
  return typeof shown === "string" || shown === null ? shown : boundedJson(shown, RECORDED).text;
}

/** `undefined` for an invalid time, or one outside the years of RFC 3339. */
function writtenInstant(at: Readonly<Instant>): string | undefined {
  try {
    return formatRfc3339(at);
  } catch {
    return undefined;
  }
}

function checkTypes(given: RecorderSinkOptions): RecorderSinkOptions {
  const options = checkEach(given, CHECKS);
  const { path, stream } = options;
  if ((path === undefined) === (stream === undefined)) {
    throw new TypeError("expected a path or a stream, and not both");
  }
  return options;
}

const CHECKS: OptionChecks<RecorderSinkOptions> = {
  path: checkedElsewhere,
  stream: having("write"),
  source: having("provenanceOf"),
  content: checkBoolean,
  redact: checkFunction,
  clock: checkFunction,
  maxBufferedBytes: wholeFrom(1),
};
