import { fromMilliseconds, type Instant } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import type { MastraRun } from "./options.ts";

/** A span as Mastra exports it. Attributes are read field by field, because they differ between versions. */
export interface MastraSpan {
  readonly id: string;
  readonly type: string;
  readonly traceId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Fields;
  readonly metadata: Fields;
  /** Content. */
  readonly input: unknown;
  /** Content. */
  readonly output: unknown;
  /** A copy of the error: message, name and stack. Mastra's own errors also have an ID, a domain and a category. */
  readonly errorInfo: Fields | undefined;
  readonly fields: Fields;
}

const NOTHING: Fields = Object.freeze({});

/** @returns `undefined` if it is not a span. */
export function spanIn(exported: unknown): MastraSpan | undefined {
  const fields = fieldsOf(exported);
  const id = textOf(fields?.id);
  const type = textOf(fields?.type);
  if (fields === undefined || id === undefined || type === undefined) return undefined;
  return {
    id,
    type,
    traceId: textOf(fields.traceId) ?? "",
    parentSpanId: textOf(fields.parentSpanId),
    attributes: fieldsOf(fields.attributes) ?? NOTHING,
    metadata: fieldsOf(fields.metadata) ?? NOTHING,
    input: fields.input,
    output: fields.output,
    errorInfo: fieldsOf(fields.errorInfo),
    fields,
  };
}

/** The run of a span, as the application's hooks get it. */
export function runIn(span: MastraSpan, kind: MastraRun["kind"]): MastraRun {
  const { attributes, fields, metadata } = span;
  return {
    kind,
    id: textOf(fields.entityId),
    runId: textOf(metadata.runId),
    threadId: textOf(metadata.threadId) ?? textOf(attributes.conversationId),
    resourceId: textOf(metadata.resourceId),
    requestContext: fieldsOf(fields.requestContext) ?? NOTHING,
    metadata,
    tags: (listOf(fields.tags) ?? []).filter((tag) => typeof tag === "string"),
  };
}

/** The span's start by Mastra's clock, on the scale of `performance.now()`. */
export function startedMsOf({ fields }: MastraSpan): number {
  const { startTime } = fields;
  const ago = startTime instanceof Date ? Date.now() - startTime.getTime() : 0;
  return performance.now() - Math.max(0, ago);
}

/** The time of an instant of `performance.now()`. */
export function timeAt(ms: number): Instant {
  return fromMilliseconds(Date.now() - (performance.now() - ms));
}
