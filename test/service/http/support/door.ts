import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { IdCache } from "../../../../src/bridge/door.ts";
import type { OpenRun } from "../../../../src/index.ts";
import { RUNTIMES } from "../../../../src/replay/door.ts";
import { EventGate } from "../../../../src/service/http/event-gate.ts";
import {
  DEFAULT_INGEST_LIMITS,
  type IngestLimits,
} from "../../../../src/service/http/ingest-limits.ts";
import { IngestFigures } from "../../../../src/service/http/ingest-metrics.ts";
import { IngestServer } from "../../../../src/service/http/ingest-server.ts";
import { Backlog } from "../../../../src/service/http/journal-feed.ts";
import type { Refusal } from "../../../../src/service/http/refusal.ts";
import { OPENAPI_TEXT } from "../../../../src/service/http/routes.ts";
import { Access } from "../../../../src/service/http/tokens/access.ts";
import { parseTokens, TokenSet } from "../../../../src/service/http/tokens/token-file.ts";
import type { NewLine } from "../../../../src/service/journal/log-line.ts";

/** A journal in memory, that can be made to fail or to wait. */
export class MemoryJournal {
  readonly lines: NewLine[] = [];
  /** Appends that were asked for so far. */
  appends = 0;
  /** Waited for before each append. */
  before: () => Promise<unknown> = async () => {};

  async append(lines: readonly NewLine[]): Promise<{ last: number }> {
    this.appends += 1;
    await this.before();
    this.lines.push(...lines);
    return { last: this.lines.length - 1 };
  }
}

export interface DoorOptions {
  readonly limits?: Partial<IngestLimits>;
  /** Entries of the tokens file, each with its token in place of the hash. */
  readonly tokens?: readonly (Readonly<Record<string, unknown>> & { readonly token: string })[];
  readonly rate?: number;
  /** Whether it counts as listening on a loopback address. Default `false`. */
  readonly loopback?: boolean;
}

/** The HTTP door on a free port, in front of a journal in memory. */
export class Door {
  readonly journal = new MemoryJournal();
  readonly figures = new IngestFigures();
  readonly backlog = new Backlog();
  readonly errors: unknown[] = [];
  readonly access: Access;
  readonly server: IngestServer;
  /** The open runs of all tenants; a test may set them. */
  runs: readonly OpenRun[] = [];
  /** What the service says of itself; a test may set it. */
  refusal: Refusal | undefined;
  #address: AddressInfo | undefined;

  private constructor({ limits, tokens, rate, loopback = false }: DoorOptions) {
    const { journal, backlog, figures } = this;
    this.access = new Access(tokens === undefined ? undefined : tokenSet(tokens), rate, loopback);
    this.server = new IngestServer({
      limits: { ...DEFAULT_INGEST_LIMITS, ...limits },
      access: this.access,
      gate: new EventGate({
        journal,
        backlog,
        ids: new IdCache(10_000),
        refusal: () => this.refusal,
        onAppend: () => {},
      }),
      figures,
      dialects: RUNTIMES.map(({ dialect }) => dialect),
      tenant: "default",
      refusal: () => this.refusal,
      unready: () => this.refusal,
      openRuns: () => this.runs,
      metrics: () => "entelix_ingest_ready 1\n",
      openapi: OPENAPI_TEXT,
      onError: (error) => void this.errors.push(error),
    });
  }

  static async open(options: DoorOptions = {}): Promise<Door> {
    const door = new Door(options);
    door.#address = await door.server.listen("127.0.0.1", 0);
    return door;
  }

  get port(): number {
    if (this.#address === undefined) throw new Error("the door is not open");
    return this.#address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Texts of the lines that are in the journal. */
  get texts(): readonly string[] {
    return this.journal.lines.map(({ text }) => text);
  }

  post(body: RequestInit["body"], init: RequestInit & { query?: string } = {}): Promise<Response> {
    const { headers, query = "", ...rest } = init;
    return fetch(`${this.url}/v1/events${query}`, {
      method: "POST",
      body: body ?? null,
      headers: { "content-type": "application/x-ndjson", ...headers },
      ...rest,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.drain(0);
  }
}

export function tokenSet(tokens: NonNullable<DoorOptions["tokens"]>): TokenSet {
  const entries = tokens.map(({ token, ...entry }) => ({ ...entry, sha256: sha256(token) }));
  return new TokenSet(parseTokens(JSON.stringify({ tokens: entries })));
}

export function sha256(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
