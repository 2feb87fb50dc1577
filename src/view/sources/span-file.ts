import {
  bytesOf,
  type InputFile,
  type Io,
  messageOf,
  rawSpansOf,
  requestLines,
} from "../../cli/door.ts";
import { textBytes } from "../../replay/door.ts";
import { type RunStore, STANDING } from "../runs/run-store.ts";
import { followedBytes, ReplacedError } from "./followed-file.ts";
import type { SourceState } from "./source-state.ts";
import { viewSpanIn } from "./view-span.ts";
import { shownSpan } from "./without-content.ts";

interface SpanFileOptions {
  readonly content: boolean;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly pollMs: number;
  /** Removes a source from the store. */
  readonly forget: (source: number) => Promise<void>;
}

/** A file of spans as OTLP/JSON lines. It is followed as it grows. */
export class SpanFile {
  readonly state: SourceState;
  readonly #input: InputFile;
  readonly #store: RunStore;
  readonly #options: SpanFileOptions;
  #source: number;
  #following: Promise<void> | undefined;

  constructor(input: InputFile, state: SourceState, store: RunStore, options: SpanFileOptions) {
    this.state = state;
    this.#input = input;
    this.#store = store;
    this.#options = options;
    this.#source = store.addSource(STANDING.spans);
  }

  /** Resolves when it was read to its end. A followed file is read further. */
  async read(): Promise<void> {
    if (this.state.followed) {
      await new Promise<void>((resolve) => {
        this.#following = this.#follow(resolve).finally(resolve);
      });
    } else {
      const bytes = bytesOf(this.#input, this.#options.io, (count) => this.state.addBytes(count));
      await this.#take(bytes).catch((error: unknown) => this.state.cutShort(messageOf(error)));
    }
    this.state.reached();
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#following;
  }

  async #follow(onEnd: () => void): Promise<void> {
    const { pollMs, signal } = this.#options;
    const onBytes = (count: number) => this.state.addBytes(count);
    const onQuiet = async () => onEnd();
    const onOpen = (problem: string | undefined) => this.state.opening(problem);
    while (!signal.aborted) {
      try {
        const path = this.#input.path ?? this.#input.name;
        await this.#take(followedBytes(path, { signal, pollMs, onBytes, onOpen, onQuiet }), true);
        return;
      } catch (error) {
        if (!(error instanceof ReplacedError)) return this.#report(messageOf(error));
        this.state.replaced(error.message);
        const gone = this.#source;
        this.#source = this.#store.addSource(STANDING.spans);
        await this.#options.forget(gone);
      }
    }
  }

  async #take(bytes: AsyncIterable<Uint8Array>, isText = false): Promise<void> {
    const text = isText ? textBytes(bytes, (same) => same) : textBytes(bytes);
    for await (const { expected, part, request } of requestLines(text)) {
      if (request !== undefined) this.#takeSpans(rawSpansOf(request), part.line);
      if (expected !== undefined) this.#report(`expected ${expected}`, part.line);
      if (this.#options.signal.aborted) return;
    }
  }

  #takeSpans(spans: Iterable<Readonly<Record<string, unknown>>>, line: number): void {
    for (const raw of spans) {
      const span = viewSpanIn(raw, (problem) => this.#report(problem, line));
      if (span !== undefined) this.#store.add(this.#source, shownSpan(span, this.#options.content));
    }
  }

  #report(problem: string, line?: number): void {
    this.state.problem(this.#input.name, problem, line);
  }
}
