import {
  checkEach,
  checkedElsewhere,
  checkFunction,
  type OptionChecks,
  withoutRejections,
} from "../../events/door.ts";
import { type SpanAnchor, SpanAnchors } from "../verify/span-anchors.ts";
import type { LogProblem, VerifyReport } from "../verify/verify-report.ts";
import { DatabaseVerifier } from "./database-verifier.ts";
import { openReader, type PostgresLogSource } from "./open-database.ts";
import { begin, withClient } from "./pg-pool.ts";
import { FIRST_POSITION, fieldPages, type RunStatement } from "./row-pages.ts";
import { databaseRow, statedHead } from "./stored-rows.ts";
import { emptyThreads } from "./threads.ts";

/** Options of `verifyPostgresLog`. */
export interface VerifyPostgresOptions {
  /** Rows that must be in the log, from run spans. Kept in memory. Default: none. */
  readonly against?: Iterable<SpanAnchor> | AsyncIterable<SpanAnchor> | undefined;
  /** Problems listed in the report. All are counted. Default 1,000. */
  readonly maxProblems?: number | undefined;
  /** Called with every problem when it is found. Default: no call. */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
}

/**
 * Reads a log in PostgreSQL from start to end. It finds rows that were edited, moved, deleted, inserted or cut off
 * the end of a thread, by any user who may write to the database.
 *
 * It runs in one read-only transaction, so it sees one consistent state. It can run while processes write, or on a
 * standby. Memory holds one page of rows.
 *
 * A thread that was deleted with its head is only found with `against`. The same is true of a log that was rewritten
 * from some row to its end.
 *
 * @throws (rejects) with an Error if there is no log, with PostgreSQL's error otherwise.
 *
 * @example
 * const { ok, problems } = await verifyPostgresLog({ connection: "postgres://reader@db.example/agents" });
 */
export async function verifyPostgresLog(
  source: PostgresLogSource,
  options: VerifyPostgresOptions = {},
): Promise<VerifyReport> {
  const { against = [], maxProblems = 1000, onProblem: asked } = checkEach(options, CHECKS);
  const onProblem = withoutRejections(asked);
  const spans = await SpanAnchors.from(against);
  const reader = await openReader(source);
  const { name, pool, schema } = reader;
  const verifier = new DatabaseVerifier(`${name}.rows`, spans, maxProblems, onProblem);
  try {
    return await withClient(pool, async (client) => {
      await client.query(begin("isolation level repeatable read, read only"));
      const run: RunStatement = async (statement) => (await client.query(statement)).rows;
      for await (const page of fieldPages(run, schema, { heads: true }, FIRST_POSITION)) {
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

const CHECKS: OptionChecks<VerifyPostgresOptions> = {
  against: checkedElsewhere,
  maxProblems: checkedElsewhere,
  onProblem: checkFunction,
};
