import { afterAll, beforeAll, expect, it } from "vitest";
import { AuditSink } from "../../src/audit/audit-sink.ts";
import { ndjsonSettings } from "../../src/audit/ndjson/ndjson-options.ts";
import { postgresSettings } from "../../src/audit/postgres/postgres-options.ts";
import type { SessionLog } from "../../src/audit/session-log.ts";
import type { ToolStart } from "../../src/entries/events.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on("unhandledRejection", note));
afterAll(() => process.off("unhandledRejection", note));

const broken = new Error("disk full");
const log: SessionLog = {
  append: () => Promise.reject(broken),
  loadSince: async () => [],
  archiveBefore: async () => 0,
};
const event: ToolStart = {
  type: "tool_start",
  run_id: "r1",
  tenant_id: "acme",
  tool_use_id: "t",
  tool: "search",
  input: null,
};

type Listener = (error: unknown) => void;

const listened: readonly [string, (onError: Listener) => void][] = [
  ["AuditSink", (onError) => void new AuditSink({ log, onError }).send(event)],
  ["NdjsonSessionLog", (onError) => ndjsonSettings({ onError }).onError(broken)],
  [
    "PostgresSessionLog",
    (onError) =>
      postgresSettings({ connection: "postgres://db.example/agents", onError }).onError(broken),
  ],
];

it.each(listened)("%s takes an async onError, whose rejection ends no process", async (_, fail) => {
  const errors: unknown[] = [];
  fail(async (error) => {
    errors.push(error);
    throw new Error("a bad listener");
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(errors).toEqual([broken]);
  expect(unhandled).toEqual([]);
});
