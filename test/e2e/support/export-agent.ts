import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { field, optionalText, text } from "./json-shape.ts";
import { keep } from "./keeper.ts";
import { until } from "./until.ts";

const PROGRAM = fileURLToPath(new URL("export-agent.mjs", import.meta.url));

export interface ExportAgentOptions {
  readonly endpoint: string;
  readonly shutdownTimeoutMs: number;
  readonly handleSignals?: boolean;
  /** Spans a second. Default: none but those that it is told to make. */
  readonly rate?: number;
  /** Characters of a span beside its number. */
  readonly padding: number;
}

/** Where all spans are, as `diagnostics()` and reports of losses have it. */
export interface Counts {
  readonly ended: number;
  readonly exported: number;
  readonly failed: number;
  readonly dropped: number;
  readonly pending: number;
  /** The reasons that there are, and how many were lost by each. */
  readonly lost: Readonly<Record<string, number>>;
}

/** What `onError` was told. */
export interface Trouble {
  readonly name: string;
  readonly place: string;
  readonly message: string;
  /** Absent where it is not about lost spans. */
  readonly lost: number | undefined;
  readonly counts: Counts | undefined;
}

/** How an agent ended by itself. */
export interface AgentEnd {
  readonly made: number;
  readonly counts: Counts;
  /** The most at any time: spans that waited, and bytes of heap and buffers above those at the start. */
  readonly peak: { readonly pending: number; readonly bytes: number };
}

/** A process that makes spans numbered from 0, and sends them by `setupTelemetry` of the built package. */
export class ExportAgent {
  readonly troubles: Trouble[] = [];
  /** So many spans it says it has made. */
  made = 0;
  /** So many of them were pending when it said so. */
  pending = 0;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #said: unknown[] = [];
  #stderr = "";

  private constructor({ padding, rate = 0, ...options }: ExportAgentOptions) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
    const argument = JSON.stringify({ options, padding, rate });
    const child = spawn(process.execPath, [PROGRAM, argument], {
      env: {
        ...Object.fromEntries(inherited),
        OTEL_METRIC_EXPORT_INTERVAL: "1000",
        // The exporter of metrics retries for so long, also when the process could end.
        OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "1000",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    keep(child);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr += chunk;
    });
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
    this.#ended = once(child, "close").then(([status, signal]) => String(signal ?? status));
  }

  static async start(options: ExportAgentOptions): Promise<ExportAgent> {
    const agent = new ExportAgent(options);
    await agent.#heard("ready");
    return agent;
  }

  /** Has it make spans at once. Resolves when they have ended. */
  async make(spans: number): Promise<void> {
    const target = this.made + spans;
    this.#child.stdin?.write(`make ${spans}\n`);
    await until("the spans are made", () => this.made >= target || undefined);
  }

  /** Resolves when what ended so far is confirmed, or was not in time. */
  async flush(): Promise<Counts> {
    this.#child.stdin?.write("flush\n");
    return countsOf(await this.#heard("flushed"));
  }

  /** Makes no more spans. */
  async stop(): Promise<void> {
    this.#child.stdin?.write("stop\n");
    await this.#heard("stopped");
  }

  /** Ends its input, and waits for its shutdown. */
  async end(): Promise<AgentEnd> {
    this.#child.stdin?.end();
    const status = await this.#ended;
    if (status !== "0") throw new Error(`the agent ended with ${status}\n${this.#stderr}`);
    const ended = await this.#heard("ended");
    const peak = field(ended, "peak");
    return {
      made: Number(field(ended, "made")),
      counts: countsOf(field(ended, "counts")),
      peak: { pending: Number(field(peak, "pending")), bytes: Number(field(peak, "bytes")) },
    };
  }

  /** @returns how it ended: the signal, or its status. */
  signal(signal: NodeJS.Signals): Promise<string> {
    this.#child.kill(signal);
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #take(message: unknown): void {
    const made = field(message, "made");
    const trouble = field(message, "trouble");
    if (made !== undefined) {
      this.made = Number(made);
      this.pending = Number(field(message, "pending"));
    } else if (trouble !== undefined) {
      this.troubles.push(troubleOf(trouble));
    } else {
      this.#said.push(message);
    }
  }

  /** The next answer, which has that field. */
  async #heard(name: string): Promise<unknown> {
    const message = await until(`the agent says ${name}`, () => this.#said.shift(), {
      timeoutMs: 60_000,
      everyMs: 20,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.#stderr}`);
    });
    const answer = field(message, name);
    if (answer === undefined) throw new Error(`expected ${name}, got ${JSON.stringify(message)}`);
    return answer;
  }
}

function troubleOf(trouble: unknown): Trouble {
  const [lost, counts] = [field(trouble, "lost"), field(trouble, "counts")];
  return {
    name: text(trouble, "name"),
    place: optionalText(trouble, "place") ?? "",
    message: text(trouble, "message"),
    lost: lost === undefined ? undefined : Number(lost),
    counts: counts === undefined ? undefined : countsOf(counts),
  };
}

function countsOf(counts: unknown): Counts {
  const count = (name: string) => Number(field(counts, name));
  const lost = field(counts, "lost");
  if (typeof lost !== "object" || lost === null) throw new TypeError("expected what was lost");
  const reasons = Object.entries(lost).map(([reason, spans]): [string, number] => [
    reason,
    Number(spans),
  ]);
  return {
    ended: count("ended"),
    exported: count("exported"),
    failed: count("failed"),
    dropped: count("dropped"),
    pending: count("pending"),
    lost: Object.fromEntries(reasons.filter(([, spans]) => spans > 0)),
  };
}
