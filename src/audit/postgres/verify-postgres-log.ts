import { type SpanAnchor, SpanAnchors } from "../verify/span-anchors.ts";
import type { LogProblem, VerifyReport } from "../verify/verify-report.ts";
import { DatabaseVerifier } from "./database-verifier.ts";
import { openReader, type PostgresLogSource } from "./open-database.ts";
import { begin, withClient } from "./pg-pool.ts";
import { FIRST_PLACE, fieldPages, type RunStatement } from "./row-pages.ts";
import { databaseRow, statedHead } from "./stored-rows.ts";
import { emptyThreads } from "./threads.ts";

/** What a log in PostgreSQL is checked against, and what is told of it. */
export interface VerifyPostgresOptions {
  /** Rows that must be there: what run spans say of their last row. Kept in memory. Default: none. */
  readonly against?: Iterable<SpanAnchor> | AsyncIterable<SpanAnchor> | undefined;
  /** Problems listed in the report; all are counted. Default 1,000. */
  readonly maxProblems?: number | undefined;
  /** Told of every problem as it is found. Default: none is told. */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
}

/**
 * Reads a log in PostgreSQL from end to end and finds what was edited, moved, deleted, inserted or cut
 * off the end of a thread, by whoever may do that in the database.
 *
 * It sees the log as it is in one moment, in one read-only transaction, and may run beside the writers
 * or on a standby. Memory is that of one page of rows.
 *
 * A thread that was deleted as a whole, its head too, is found with `against` alone; so is a log that
 * was rewritten from some row to its end by someone who may write everything.
 *
 * @throws (rejects) with an Error when there is no log; with PostgreSQL's error otherwise.
 *
 * @example
 * const { ok, problems } = await verifyPostgresLog({ connection: "postgres://reader@db.example/agents" });
 */
export async function verifyPostgresLog(
  place: PostgresLogSource,
  options: VerifyPostgresOptions = {},
): Promise<VerifyReport> {
  const { against = [], maxProblems = 1000, onProblem = () => {} } = options;
  const spans = await SpanAnchors.from(against);
  const reader = await openReader(place);
  const { name, pool, schema } = reader;
  const verifier = new DatabaseVerifier(`${name}.rows`, spans, maxProblems, onProblem);
  try {
    return await withClient(pool, async (client) => {
      await client.query(begin("isolation level repeatable read, read only"));
      const run: RunStatement = async (statement) => (await client.query(statement)).rows;
      for await (const page of fieldPages(run, schema, { heads: true }, FIRST_PLACE)) {
        for (const fields of page) verifier.row(databaseRow(fields), statedHead(fields));
      }
      for await (const head of emptyThreads(run, schema)) verifier.emptyThread(head, head);
      await client.query({ text: "commit" });
      return verifier.result();
    });
  } finally {
    await reader.close();
  }
}
