import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import type { SpanStore } from "../../../../src/bridge/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  MemorySessionLog,
  type SessionLog,
  type ThreadKey,
} from "../../../../src/entries/audit.ts";
import { LogProcessor } from "../../../../src/service/processor/log-processor.ts";
import type { LogProcessorOptions } from "../../../../src/service/processor/log-processor-options.ts";
import type { Random } from "../../../support/random.ts";
import { fingerprint } from "../../../support/spans.ts";

/** What outlives a process: the stored spans and rows, and the rejected lines. */
export class World {
  /** Contents of the spans by trace and span id. */
  readonly spans = new Map<string, Set<string>>();
  readonly log = new MemorySessionLog();
  readonly threads = new Map<string, ThreadKey>();
  readonly rejected = new Set<string>();
  readonly errors: string[] = [];
  spansStored = 0;

  keep(spans: readonly ReadableSpan[]): void {
    for (const span of spans) {
      const { spanId, traceId } = span.spanContext();
      const known = this.spans.get(`${traceId}/${spanId}`) ?? new Set();
      this.spans.set(`${traceId}/${spanId}`, known.add(fingerprint(span)));
      this.spansStored++;
    }
  }

  async rows(): Promise<AuditRow[]> {
    const rows: AuditRow[] = [];
    for (const name of [...this.threads.keys()].sort()) {
      const key = this.threads.get(name);
      if (key !== undefined) rows.push(...(await this.log.loadSince(key, 0)));
    }
    return rows;
  }

  /** All of it as something that can be compared. */
  async contents() {
    return {
      spans: [...this.spans].map(([ids, contents]) => [ids, [...contents].sort()]).sort(),
      rows: (await this.rows()).map(
        (row) =>
          `${row.tenant_id} ${row.thread_id} ${row.ordinal} ${row.event_id} ${row.span_id} ${row.hash}`,
      ),
      rejected: [...this.rejected].sort(),
    };
  }
}

/** One process: its stores work for as long as it lives, and fail as often as is said. */
export class Life {
  readonly processor: LogProcessor;
  settled: number;
  stored: number;
  #alive = true;
  readonly #world: World;
  readonly #random: Random;
  readonly #failures: number;

  constructor(
    world: World,
    random: Random,
    failures: number,
    options: Pick<LogProcessorOptions, "from" | "stored"> & Partial<LogProcessorOptions>,
  ) {
    this.#world = world;
    this.#random = random;
    this.#failures = failures;
    this.settled = options.from;
    this.stored = options.stored ?? options.from;
    this.processor = new LogProcessor({
      name: "log",
      tenant: "default",
      service: { resource: emptyResource(), serviceName: "test" },
      spans: this.#spanStore(),
      audit: this.#sessionLog(),
      onSpans: { captureContent: true },
      onRejected: async ({ offset }, issues) => {
        await this.#fate();
        world.rejected.add(`${offset} ${issues[0]?.field}`);
      },
      onError: (error, where) => void world.errors.push(`${where}: ${String(error)}`),
      delays: { firstMs: 0, mostMs: 1 },
      ...options,
    });
  }

  /** The process is gone: what was on its way may have arrived or not, and nothing more does. */
  kill(): void {
    this.#alive = false;
  }

  /** Commits what is stored; does nothing once the process is gone. */
  async commit(): Promise<void> {
    const settled = await this.processor.settle();
    if (!this.#alive) return;
    this.settled = settled;
    this.stored = this.processor.stored;
  }

  #spanStore(): SpanStore {
    return {
      store: async (spans) => {
        for (;;) {
          try {
            await this.#fate();
            this.#world.keep(spans);
            await this.#fate();
            return { refused: 0 };
          } catch {
            // A store tries again by itself.
          }
        }
      },
      close: async () => {},
    };
  }

  #sessionLog(): SessionLog {
    const { log, threads } = this.#world;
    return {
      append: async (key: ThreadKey, entries: readonly AuditEntry[]) => {
        await this.#fate();
        threads.set(`${key.tenant_id}\0${key.thread_id}`, key);
        const anchor = await log.append(key, entries);
        await this.#fate();
        return anchor;
      },
      loadSince: async (key, cursor) => {
        await this.#fate();
        return log.loadSince(key, cursor);
      },
      archiveBefore: (key, watermark) => log.archiveBefore(key, watermark),
    };
  }

  /** Takes a while; fails, or never ends where the process is gone meanwhile. */
  async #fate(): Promise<void> {
    const turns = this.#random.below(3);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (!this.#alive) await new Promise(() => {});
    if (this.#random.chance(this.#failures)) throw new Error("away");
  }
}
