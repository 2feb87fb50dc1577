import { parseArgs } from "node:util";
import { isPostgresUrl, PostgresSessionLog, urlScheme } from "../audit/door.ts";
import { logError } from "./audit/audit-log.ts";
import { CliError } from "./cli-error.ts";
import type { Command } from "./command.ts";
import { counted } from "./terminal/table.ts";
import { safe } from "./terminal/text.ts";

const OPTIONS = {
  tenant: { type: "string", value: "T", about: "Tenant whose payloads are erased. Required." },
  thread: { type: "string", value: "T", about: "Only this thread. Default: all threads." },
} as const;

/** Erases payloads of a tenant. The chains stay valid. */
export const auditErase: Command = {
  operands: "URL",
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The log is a PostgreSQL database as for audit verify. Kind and time of each event and the IDs and hashes of its row stay. The command cannot be undone. It may miss rows that are appended meanwhile, so stop the tenant first.",
    "The old texts stay in the server's files until new rows take their place or VACUUM FULL rewrites the table, which blocks all appends. Archived WAL, standbys and backups keep them longer.",
    "Exit code: 0 erased, 1 failed or incomplete. It can be run again.",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [url = ""] = positionals;
    const { tenant, thread } = values;
    if (!isPostgresUrl(url)) {
      const scheme = urlScheme(url);
      const got = scheme === undefined ? `"${safe(url)}"` : `a URL (${safe(scheme)}…)`;
      throw new CliError(`expected a log at postgres://…, got ${got}`);
    }
    if (tenant === undefined || tenant === "") {
      throw new CliError("--tenant: expected the tenant whose payloads are erased");
    }
    try {
      const log = await PostgresSessionLog.open({ connection: url, migrate: false });
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
