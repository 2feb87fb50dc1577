import { type Fields, fieldsOf, textOf } from "../core/door.ts";

// JSON-RPC 2.0 messages as the SDKs pass them to transports: one object for each message.

/** The ID of a request. IDs of other types are ignored. */
export type RequestId = string | number;

export interface Request {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: Fields | undefined;
}

export interface Response {
  readonly kind: "response";
  readonly id: RequestId;
  readonly result: Fields | undefined;
  readonly error: Fields | undefined;
}

export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: Fields | undefined;
}

/** Reads a message. `undefined` for any other value. */
export function readMessage(message: unknown): Request | Response | Notification | undefined {
  const fields = fieldsOf(message);
  if (fields === undefined) return undefined;
  const id = isId(fields.id) ? fields.id : undefined;
  const method = textOf(fields.method);
  const params = fieldsOf(fields.params);
  if (method !== undefined) {
    return id === undefined
      ? { kind: "notification", method, params }
      : { kind: "request", id, method, params };
  }
  const error = fieldsOf(fields.error);
  const result = fieldsOf(fields.result);
  if (id === undefined || (error === undefined && result === undefined)) return undefined;
  return { kind: "response", id, result, error };
}

/** Maximum length of an ID in attributes, in characters. A peer may send any text. */
const MOST_ID = 256;

/** An ID for attributes. */
export function idText(id: RequestId): string {
  return String(id).slice(0, MOST_ID);
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}
