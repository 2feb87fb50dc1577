import assert from "node:assert/strict";

/** Opens a log in PostgreSQL where its client is not installed, and prints what that says. */
export async function sayNoPostgres({ PostgresSessionLog, verifyPostgresLog }) {
  assert.equal(typeof verifyPostgresLog, "function");
  const opening = PostgresSessionLog.open({ connection: "postgres://127.0.0.1:1/none" });
  await assert.rejects(opening, (error) => {
    assert.match(error.message, /npm install pg$/);
    console.log(error.message);
    return true;
  });
}
