import { expect } from "vitest";
import { answerHeaders, answerSchema, mismatches } from "./json-schema.ts";

/** Reads an answer's JSON, and holds it to the OpenAPI document. */
export async function conforming(
  response: Response,
  path = "/v1/events",
  method = "post",
): Promise<Record<string, unknown>> {
  const value: unknown = await response.json();
  const { status, headers } = response;
  expect(mismatches(answerSchema(path, method, status, "application/json"), value)).toEqual([]);
  for (const name of answerHeaders(path, method, status)) {
    expect(headers.get(name), `${status}: ${name}`).toMatch(/./);
  }
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  return { ...value };
}

/** The code of the error in an answer. */
export function codeOf(answer: Record<string, unknown>): unknown {
  const { error } = answer;
  return typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
}
