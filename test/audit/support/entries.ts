import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEntry, ThreadKey } from "../../../src/audit/audit-row.ts";

export const key: ThreadKey = { tenant_id: "acme", thread_id: "t1" };

/** An entry of run `r1` with a payload that tells it from others. */
export function entry(text: string, ids: Partial<AuditEntry> = {}): AuditEntry {
  const timestamp = "2026-04-29T12:00:00Z";
  return {
    event: { kind: "tool_call", id: "tu", name: text, input: {}, timestamp },
    run_id: "r1",
    ...ids,
  };
}

export function entries(count: number, prefix = "n"): AuditEntry[] {
  return Array.from({ length: count }, (_, index) => entry(`${prefix}${index + 1}`));
}

/** A new folder below the system's for temporary files. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "audit-"));
}
