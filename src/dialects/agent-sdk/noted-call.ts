import type { Instant } from "../../events/instant.ts";
import type { SubagentProgress } from "./events.ts";

/** What has to be known of an open tool call until its end; of most calls nothing has to. */
export class NotedCall {
  readonly name: string;
  /** Absent where the start was not seen. */
  readonly startedAt: Instant | undefined;
  /** When a human was asked about it. */
  askedAt: Instant | undefined;
  /** Progress messages, its own or of the sub-agent that it runs. */
  progress = 0;
  subagentId: string | undefined;
  /** The sub-agent's name, as its progress has it. */
  childName: string | undefined;
  childThreadId: string | undefined;
  childModel: string | undefined;
  /** Whether the audit log knows of the sub-agent. */
  childRecorded = false;

  constructor(name: string, startedAt: Instant | undefined) {
    this.name = name;
    this.startedAt = startedAt;
  }

  /** The sub-agent that the call runs has something to say. */
  heardOfChild(event: SubagentProgress): void {
    this.progress += 1;
    this.subagentId = event.subagent_id;
    this.childName ??= event.subagent_name || undefined;
    this.childThreadId ??= event.child_thread_id ?? undefined;
    this.childModel ??= event.model ?? undefined;
  }
}
