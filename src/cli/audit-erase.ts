import { parseArgs } from "node:util";
import { isPostgresUrl } from "../audit/postgres/postgres-options.ts";
import { PostgresSessionLog } from "../audit/postgres/postgres-session-log.ts";
import { urlScheme } from "../audit/url-scheme.ts";
import { logError } from "./audit/audit-log.ts";
import { CliError } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { counted } from "./terminal/table.ts";
import { safe } from "./terminal/text.ts";

const OPTIONS = {
  tenant: { type: "string", value: "T", about: "Whose payloads are erased. Required." },
  thread: { type: "string", value: "T", about: "Only this thread's." },
} as const;

/** Erases what a tenant's events said, and leaves every chain valid. */
export const auditErase: Command = {
  name: "audit erase",
  summary: "Erase the payloads of a tenant's rows in PostgreSQL; the chains stay valid.",
  operands: "URL",
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The log is a PostgreSQL database, as for audit verify. Kind and time of each event are left, and the ids and hashes of its row. It can't be undone. Rows that are appended meanwhile may be left out: stop the tenant first.",
    "PostgreSQL drops the old texts at its next VACUUM; archived WAL, standbys and backups have them longer.",
    "Exit code: 0 erased, 1 it could not run, or not to its end; then it can be run again.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [place = ""] = positionals;
    const { tenant, thread } = values;
    if (!isPostgresUrl(place)) {
      const scheme = urlScheme(place);
      const got = scheme === undefined ? `"${safe(place)}"` : `a URL (${safe(scheme)}…)`;
      throw new CliError(`expected a log at postgres://…, got ${got}`);
    }
    if (tenant === undefined || tenant === "") {
      throw new CliError("--tenant: expected whose payloads are to be erased");
    }
    try {
      const log = await PostgresSessionLog.open({ connection: place, migrate: false });
      try {
        const erased = await log.erasePayloads(tenant, thread);
        io.out.line(`${counted(erased, "payload")} erased`);
      } finally {
        await log.close();
      }
    } catch (error) {
      throw logError(error);
    }
    return 0;
  },
};
