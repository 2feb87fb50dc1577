import type { ListedCommand } from "./command.ts";

/** The commands of this room, in the order of the help. */
export const CLI_COMMANDS: readonly ListedCommand[] = [
  {
    name: "replay",
    summary:
      "Make spans and audit rows from recorded events, or send recorded spans again. The same recording always gives identical spans and rows.",
    load: async () => (await import("./replay.ts")).replay,
  },
  {
    name: "where",
    summary: "Print trace ID, span ID and Jaeger URL of a run. No server is needed.",
    load: async () => (await import("./where.ts")).where,
  },
  {
    name: "serve",
    summary:
      "HTTP service that makes spans and audit rows from events. Acknowledged events survive a crash.",
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "token",
    summary:
      "Create a token for serve. The sender uses the token, the tokens file contains its entry.",
    load: async () => (await import("./token.ts")).token,
  },
  {
    name: "runs",
    summary: "List the open runs of a running serve, the one that was silent longest first.",
    load: async () => (await import("./runs.ts")).runs,
  },
  {
    name: "consume",
    summary:
      "Kafka consumer-group worker that makes spans and audit rows from events. Effectively exactly once; survives crashes.",
    load: async () => (await import("./consume.ts")).consume,
  },
  {
    name: "audit verify",
    summary:
      "Verify an audit log: find rows that were edited, moved, deleted, duplicated, inserted or truncated.",
    load: async () => (await import("./audit-verify.ts")).auditVerify,
  },
  {
    name: "audit show",
    summary: "Print the rows of an audit log in the order they were written.",
    load: async () => (await import("./audit-show.ts")).auditShow,
  },
  {
    name: "audit erase",
    summary: "Erase payloads of a tenant's rows in PostgreSQL. The chains stay valid.",
    load: async () => (await import("./audit-erase.ts")).auditErase,
  },
  {
    name: "doctor",
    summary:
      "Check the setup of traces and metrics: receivers, ID generator, sampler, packages, variables.",
    load: async () => (await import("./doctor.ts")).doctor,
  },
];
