import { PostgresSessionLog } from "../../../src/entries/postgres.ts";
import { entries, key } from "../../audit/support/entries.ts";
import { PostgresServer, withConnection } from "./postgres.ts";

/** A server, and logs in it that are closed with it, each in a schema of its own. */
export class PostgresLogs {
  readonly server: PostgresServer;
  readonly #logs: PostgresSessionLog[] = [];
  #schemas = 0;

  static async start(): Promise<PostgresLogs> {
    return new PostgresLogs(await PostgresServer.start());
  }

  private constructor(server: PostgresServer) {
    this.server = server;
  }

  /** The name of a schema that is not there yet. */
  freshSchema(): string {
    this.#schemas += 1;
    return `audit_${this.#schemas}`;
  }

  async open(
    settings: Omit<Parameters<typeof PostgresSessionLog.open>[0], "connection" | "pool">,
    role?: string,
  ): Promise<PostgresSessionLog> {
    const log = await PostgresSessionLog.open({ ...settings, connection: this.server.url(role) });
    this.#logs.push(log);
    return log;
  }

  /** A log with rows: two threads of one tenant with five each, one of another with two. */
  async filled() {
    const schema = this.freshSchema();
    const log = await this.open({ schema });
    await log.append(key, entries(5, "one-"));
    await log.append({ ...key, thread_id: "t2" }, entries(5, "two-"));
    await log.append({ tenant_id: "other", thread_id: "t1" }, entries(2, "other-"));
    return { schema, log, url: `${this.server.url()}?schema=${schema}` };
  }

  /** Runs statements in a schema as the owner of its tables. */
  asOwner(schema: string, ...statements: string[]): Promise<void> {
    return withConnection(this.server.url(), async (client) => {
      await client.query(`set search_path = ${schema}`);
      for (const statement of statements) await client.query(statement);
    });
  }

  /** The same past all that holds the chain, as a superuser can. */
  byHand(schema: string, ...statements: string[]): Promise<void> {
    return this.asOwner(schema, "set session_replication_role = replica", ...statements);
  }

  async stop(): Promise<void> {
    for (const log of this.#logs) await log.close();
    await this.server.stop();
  }
}
