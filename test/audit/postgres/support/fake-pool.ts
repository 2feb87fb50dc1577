import type {
  PgClient,
  PgPool,
  PgResult,
  PgStatement,
} from "../../../../src/audit/postgres/pg-pool.ts";

/** What a statement comes to: an answer, or an error. */
export type Answer = (statement: PgStatement) => PgResult | Error | Promise<PgResult | Error>;

/** A pool whose answers are given one by one, the last one for all that follow. */
export class FakePool implements PgPool {
  readonly statements: PgStatement[] = [];
  /** Whether each connection was given back as one that is broken. */
  readonly released: boolean[] = [];
  readonly #answers: Answer[];

  constructor(...answers: Answer[]) {
    this.#answers = answers;
  }

  async connect(): Promise<PgClient> {
    return {
      query: async (statement) => {
        this.statements.push(statement);
        const [next] = this.#answers;
        if (this.#answers.length > 1) this.#answers.shift();
        const answer = await next?.(statement);
        if (answer === undefined || answer instanceof Error) throw answer;
        return answer;
      },
      release: (broken) => {
        this.released.push(broken === true || broken instanceof Error);
      },
      on: () => undefined,
      off: () => undefined,
    };
  }

  async end(): Promise<void> {}
}

/** An error with a code, as PostgreSQL's and Node's are. */
export function coded(code: string, message = code): Error {
  return Object.assign(new Error(message), { code });
}
