import { fileURLToPath } from "node:url";

/** Path of a bundled recording. */
export function recording(name: string): string {
  return fileURLToPath(new URL(`../../../recordings/${name}.ndjson`, import.meta.url));
}

/** One event line, with what is not said filled in. */
export function line(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    timestamp: "2026-04-29T12:00:00Z",
    run_id: "018f3c7a-0000-7000-8000-000000000002",
    tenant_id: "acme",
    ...fields,
  });
}

export function started(fields: Readonly<Record<string, unknown>> = {}): string {
  return line({ type: "started", parent_run_id: null, agent: "react", ...fields });
}

export function completed(fields: Readonly<Record<string, unknown>> = {}): string {
  return line({
    type: "complete",
    timestamp: "2026-04-29T12:00:01Z",
    state: null,
    usage: null,
    ...fields,
  });
}

/** What no output may hold beside line ends: characters that move the cursor or turn the text. */
export const RAW_CONTROL = /(?!\n)[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
