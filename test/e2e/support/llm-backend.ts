import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installedPath } from "./adapters-project.ts";
import { namedPorts } from "./free-ports.ts";
import { keepFolder } from "./keeper.ts";
import { ServerProcess } from "./server-process.ts";

/** A span as a backend shows it by its API. */
export interface ShownSpan {
  readonly name: string;
  /** The backend's own word for it, in capitals. */
  readonly kind: string | undefined;
  /** Only of a failed span. */
  readonly error: string | undefined;
  readonly tokens: readonly [input: number, output: number] | undefined;
  /** Tokens of the input that came from the provider's cache. */
  readonly cached: number | undefined;
  /** Tokens of the output that the model reasoned with. */
  readonly reasoning: number | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  /** Parameters of the request. */
  readonly parameters: unknown;
  /** Names of the tools that the model was given. */
  readonly tools: readonly string[];
  /** Why the model stopped. */
  readonly finishReason: string | undefined;
  /** The messages, a line each: see `messageLine`. Empty when the backend shows none. */
  readonly input: readonly string[];
  readonly output: readonly string[];
  /**
   * Arguments of a tool call, query of a retrieval or texts of a call for embeddings, and what came of it: texts, JSON
   * without spaces.
   */
  readonly argument: string | undefined;
  readonly result: string | undefined;
  /** The messages of the `exception` events. */
  readonly exceptions: readonly string[];
}

/** A trace as a backend shows it in its lists. */
export interface ShownTrace {
  readonly session: string;
  readonly user: string | undefined;
  readonly failed: boolean;
  /** What the list shows of the run's question and answer. */
  readonly request: string | undefined;
  readonly response: string | undefined;
  /** Of all its model calls. */
  readonly tokens: readonly [input: number, output: number] | undefined;
  /** In US dollars. */
  readonly cost: number | undefined;
  /** In the order of their start. */
  readonly spans: readonly ShownSpan[];
}

/** How one kind of backend is run and asked. */
export interface BackendKind {
  /** Its name in `scripts/servers`. */
  readonly name: string;
  readonly program: string;
  readonly args: (port: number, folder: string) => readonly string[];
  readonly env: (port: number, folder: string) => Readonly<Record<string, string>>;
  /** Path that answers once it is ready. */
  readonly health: string;
  /** Headers that its receiver of OTLP wants, as `OTEL_EXPORTER_OTLP_HEADERS` has them. */
  readonly headers: string;
  /** All traces, by session. */
  readonly traces: (base: string) => Promise<ReadonlyMap<string, ShownTrace>>;
}

/**
 * How long a backend may take until it is ready, and to take its first spans, in ms. Each loads hundreds of Python
 * modules: 30 to 60 s on two cores that have other work, too.
 */
const SLOW_MS = 180_000;

/** A running backend, with a folder and a port of its own. */
export class LlmBackend {
  readonly #kind: BackendKind;
  readonly #base: string;
  readonly #server: ServerProcess;
  readonly #remove: () => Promise<void>;

  private constructor(
    kind: BackendKind,
    base: string,
    server: ServerProcess,
    remove: () => Promise<void>,
  ) {
    this.#kind = kind;
    this.#base = base;
    this.#server = server;
    this.#remove = remove;
  }

  /** Installs it where it is absent, and starts it. */
  static async start(kind: BackendKind): Promise<LlmBackend> {
    const python = await installedPath(kind.name);
    const port = (await namedPorts(["http"]))("http");
    const folder = await mkdtemp(join(tmpdir(), `entelix-otel-${kind.name}-`));
    const forget = keepFolder(folder);
    const base = `http://127.0.0.1:${port}`;
    const server = new ServerProcess({
      name: kind.name,
      program: python,
      args: [kind.program, ...kind.args(port, folder)],
      // Tools of Python packages write into the home folder.
      env: { HOME: folder, PYTHONDONTWRITEBYTECODE: "1", ...kind.env(port, folder) },
      cwd: folder,
      log: join(folder, "server.log"),
      ready: async () => {
        const response = await fetch(`${base}${kind.health}`);
        if (!response.ok) throw new Error(`status ${response.status}`);
      },
      startMs: SLOW_MS,
    });
    const remove = async () => {
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      forget();
    };
    const backend = new LlmBackend(kind, base, server, remove);
    await server.start().catch(async (error: unknown) => {
      await remove();
      throw error;
    });
    return backend;
  }

  /** Runs a program that sends its spans here, to its end. @returns what it says: nothing when all is well. */
  async receive(
    [program, ...args]: readonly [program: string, ...args: string[]],
    environment: Readonly<Record<string, string>> = {},
    cwd?: string,
  ): Promise<string> {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(OTEL|NODE_ENV)/.test(name),
    );
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      cwd,
      timeout: SLOW_MS,
      env: {
        ...Object.fromEntries(inherited),
        OTEL_EXPORTER_OTLP_ENDPOINT: this.#base,
        OTEL_EXPORTER_OTLP_HEADERS: this.#kind.headers,
        OTEL_EXPORTER_OTLP_TIMEOUT: String(SLOW_MS),
        OTEL_BSP_EXPORT_TIMEOUT: String(SLOW_MS),
        OTEL_METRICS_EXPORTER: "none",
        ...environment,
      },
    });
    return `${stdout}${stderr}`;
  }

  traces(): Promise<ReadonlyMap<string, ShownTrace>> {
    return this.#kind.traces(this.#base);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.#remove();
  }
}

/** What a message of a model says, whichever backend shows it. */
export interface ShownMessage {
  readonly role: string;
  readonly text?: string | undefined;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: unknown;
  }[];
  /** The call that it is the result of. */
  readonly resultOf?: string | undefined;
  readonly finishReason?: string | undefined;
}

/** For example `assistant: look_up call_1 {"order":17} (tool_calls)`. */
export function messageLine({ role, text, calls, resultOf, finishReason }: ShownMessage): string {
  const called = calls.map(({ id, name, input }) => `${name} ${id} ${JSON.stringify(input)}`);
  const said = [resultOf, text && withoutSpaces(text), ...called].filter((part) => part);
  return `${role}: ${said.join("; ")}${finishReason === undefined ? "" : ` (${finishReason})`}`;
}

/** JSON as this process would write it; other text unchanged. */
export function withoutSpaces(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
