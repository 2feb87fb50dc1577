import { type Fields, fieldsOf, textOf } from "../core/narrow.ts";

// Messages as the SDKs hand them to their transports: JSON-RPC 2.0, one object a message.

/** The id of a request. A peer may send anything; an id of another type is no request's. */
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

/** The kind of a message; `undefined` for any other value. */
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

/** The most characters of an id that are shown: a peer may send any text. */
const MOST_ID = 256;

/** An id as attributes have it. */
export function idText(id: RequestId): string {
  return String(id).slice(0, MOST_ID);
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}
