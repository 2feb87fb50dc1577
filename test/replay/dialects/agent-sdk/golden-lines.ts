import { type JsonValue, parseExact } from "../../../../src/entries/events.ts";
import { decodeAgentSdk } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-dialect.ts";
import { isJsonObject, type JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { readLines } from "../../../support/golden.ts";

/** A stream of `test/golden`, its lines as upstream's event store held them. */
export interface Stream {
  /** `file#id`. */
  readonly name: string;
  readonly lines: readonly JsonObject[];
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw new TypeError(`expected an object, got ${typeof value}`);
}

/** Single vectors: each has an `envelope`, and those of 0.9 the bare `event` too. */
export function vectors(file: string): JsonObject[] {
  return readLines(`golden/${file}`).map((text) => objectOf(parseExact(text)));
}

export function streams(file: string): Stream[] {
  return vectors(file).map(({ id, envelopes }) => {
    if (!Array.isArray(envelopes)) throw new TypeError(`${file}: a line without envelopes`);
    return {
      name: `${file}#${String(id)}`,
      lines: envelopes.map((line: JsonValue) => objectOf(line)),
    };
  });
}

export const STREAMS: readonly Stream[] = [
  ...streams("agent_sdk_streams.jsonl"),
  ...streams("agent_sdk_real_runs.jsonl"),
];

/** Every envelope of the four golden files. */
export const LINES: readonly JsonObject[] = [
  ...vectors("agent_sdk_events.jsonl").map(({ envelope }) => objectOf(envelope)),
  ...vectors("agent_sdk_newer_0_18.jsonl").map(({ envelope }) => objectOf(envelope)),
  ...STREAMS.flatMap(({ lines }) => lines),
];

export function eventOf(line: JsonObject) {
  const decoded = decodeAgentSdk(line);
  if (decoded.outcome !== "event") throw new Error(JSON.stringify(decoded));
  return decoded;
}
