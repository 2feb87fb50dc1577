import { createServer } from "node:net";
import {
  CliError,
  type Fields,
  messageOf,
  type Rejected,
  rawSpansOf,
  safe,
} from "../../cli/door.ts";
import { type RunStore, STANDING } from "../runs/run-store.ts";
import type { ListenAddress } from "../runs/viewed-runs.ts";
import { SpanReceiver } from "../server/span-receiver.ts";
import { SavedRequests } from "./saved-requests.ts";
import type { SourceState } from "./source-state.ts";
import { viewSpanIn } from "./view-span.ts";
import { shownSpan } from "./without-content.ts";

interface ReceivedOptions {
  readonly content: boolean;
  readonly address: ListenAddress;
  /** File that gets each request as a line of OTLP/JSON. */
  readonly save?: string | undefined;
}

/** The spans that programs send to this command while it runs. */
export class ReceivedSpans {
  readonly #state: SourceState;
  readonly #store: RunStore;
  readonly #options: ReceivedOptions;
  readonly #source: number;
  readonly #receiver: SpanReceiver;
  readonly #saved: SavedRequests | undefined;
  /** The problem of {@link ReceivedSpans.leftOut}. */
  #leftOut: string | undefined;

  private constructor(
    state: SourceState,
    store: RunStore,
    options: ReceivedOptions,
    receiver: SpanReceiver,
    saved: SavedRequests | undefined,
  ) {
    this.#state = state;
    this.#store = store;
    this.#options = options;
    this.#receiver = receiver;
    this.#saved = saved;
    this.#source = store.addSource(STANDING.spans);
  }

  /** @throws (rejects) CliError when the address can't be listened on, or the file of `--save` can't be written. */
  static async listen(
    stateOf: (url: string) => SourceState,
    store: RunStore,
    options: ReceivedOptions,
  ): Promise<ReceivedSpans> {
    const { address, save } = options;
    let spans: ReceivedSpans | undefined;
    const early: string[] = [];
    const onProblem = (problem: string) => {
      if (spans === undefined) early.push(problem);
      else spans.report(problem);
    };
    // Before the first request can come: all that are confirmed are saved.
    const saved = save === undefined ? undefined : await SavedRequests.open(save, onProblem);
    const receiver = await SpanReceiver.listen({
      address,
      onSpans: async (request) => spans?.take(request),
      onProblem,
      onGone: () => spans?.gone(),
    }).catch(async (error: unknown) => {
      throw await listenError(error, address);
    });
    spans = new ReceivedSpans(stateOf(receiver.url), store, options, receiver, saved);
    for (const problem of early) spans.report(problem);
    return spans;
  }

  /** The base URL for exporters. */
  get url(): string {
    return this.#receiver.url;
  }

  /** It has no end, so it counts as read from its start. */
  async read(): Promise<void> {
    this.#state.reached();
  }

  async close(): Promise<void> {
    await this.#receiver.close();
    await this.#saved?.close();
  }

  /** Takes the spans of a request. */
  async take(request: Fields): Promise<Rejected | undefined> {
    this.#state.solved(this.url, GONE);
    let rejected: Rejected | undefined;
    for (const raw of rawSpansOf(request)) {
      const span = viewSpanIn(raw, (reason) => {
        rejected = { spans: (rejected?.spans ?? 0) + 1, reason: rejected?.reason ?? reason };
        this.report(reason);
      });
      if (span !== undefined) this.#store.add(this.#source, shownSpan(span, this.#options.content));
    }
    await this.#saved?.add(request);
    return rejected;
  }

  /**
   * A sender left in the middle of a request. That is a problem until spans come again: exporters send again what was
   * not confirmed.
   */
  gone(): void {
    this.report(GONE);
  }

  /** @param spans of runs that are shown, which were left out because all take too much of the disk. */
  leftOut(spans: number): void {
    if (this.#leftOut !== undefined) this.#state.solved(this.url, this.#leftOut);
    this.#leftOut = `too many spans to keep: the oldest ${spans} of the longest runs were left out`;
    this.report(this.#leftOut);
  }

  report(problem: string): void {
    this.#state.problem(this.url, problem);
  }
}

const GONE =
  "a program left in the middle of a request: its last spans are missing unless it sends them again";

async function listenError(error: unknown, { host, port }: ListenAddress): Promise<CliError> {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EADDRINUSE") {
    return new CliError(`--listen: ${safe(messageOf(error))}`, undefined, { cause: error });
  }
  const other = await freePort(host);
  return new CliError(
    `--listen: port ${port} of ${safe(host)} is in use, perhaps by a collector, Jaeger or another view`,
    `End it, or run: entelix-otel view --listen ${other}, and set OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${other} for your program. If its code has an endpoint, change it there: it overrides the variable.`,
    { cause: error },
  );
}

/** The first of these ports that is free. Those before have another use: 4317 gRPC, 4318 live spans, 4319 replays. */
const FIRST_OTHER = 4_320;
const LAST_OTHER = 4_399;

async function freePort(host: string): Promise<number> {
  for (let port = FIRST_OTHER; port < LAST_OTHER; port++) {
    if (await isFree(port, host)) return port;
  }
  return LAST_OTHER;
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
