import { MOST_NAME } from "../events/value-limits.ts";
import type { ThreadKey } from "./audit-row.ts";
import { threadText } from "./thread-text.ts";

/** A thread as a store uses it: nothing of it can be changed by the caller any more. */
export interface NamedThread extends ThreadKey {
  /** Its `threadText`, made once. */
  readonly name: string;
}

/** @throws TypeError when tenant or thread is missing, empty or longer than 4,096 characters. */
export function namedThread(key: ThreadKey): NamedThread {
  const { tenant_id, thread_id } = key;
  checkName(tenant_id, "tenant_id");
  checkName(thread_id, "thread_id");
  return { tenant_id, thread_id, name: threadText({ tenant_id, thread_id }) };
}

function checkName(name: unknown, field: string): void {
  if (typeof name === "string" && name !== "" && name.length <= MOST_NAME) return;
  throw new TypeError(`${field}: expected a string of 1 to ${MOST_NAME} characters`);
}
