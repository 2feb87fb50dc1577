import type { ThreadKey } from "./audit-row.ts";

/** A thread's name as one text, such that no two threads share it. */
export function threadText(key: ThreadKey): string {
  return `${key.tenant_id.length}:${key.thread_id.length}:${key.tenant_id}${key.thread_id}`;
}
