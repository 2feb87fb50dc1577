import type { AgentEvent } from "../../events/agent-event.ts";
import { LiveLines } from "../terminal/live-lines.ts";
import type { Output } from "../terminal/output.ts";
import type { BundledRecording } from "./bundled-recordings.ts";
import { RunWatch } from "./run-watch.ts";
import { watchLine } from "./watch-line.ts";

/** How often the view is drawn on a terminal, in ms. */
const FRAME_MS = 80;

/**
 * Shows the recordings while they are played: redrawn in place on a terminal, a line when one ends
 * where the output is piped.
 */
export class LiveView {
  readonly #recordings: readonly {
    readonly recording: BundledRecording;
    readonly watch: RunWatch;
  }[];
  readonly #output: Output;
  readonly #lines: LiveLines | undefined;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(recordings: readonly BundledRecording[], output: Output) {
    this.#recordings = recordings.map((recording) => ({ recording, watch: new RunWatch() }));
    this.#output = output;
    if (!output.live) return;
    this.#lines = new LiveLines(output);
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
  }

  take(recording: number, event: AgentEvent): void {
    const shown = this.#recordings[recording];
    if (shown === undefined) return;
    const now = this.#now();
    const before = shown.watch.endedMs;
    shown.watch.take(event, now);
    if (this.#lines === undefined && before === undefined && shown.watch.endedMs !== undefined) {
      this.#output.line(watchLine(shown.recording, shown.watch, now, this.#output));
    }
  }

  /** Leaves what is shown and gives the terminal back. */
  stop(): void {
    clearInterval(this.#timer);
    this.#draw();
    this.#lines?.stop(true);
  }

  #draw(): void {
    const now = this.#now();
    this.#lines?.draw(
      this.#recordings.map(({ recording, watch }) =>
        watchLine(recording, watch, now, this.#output),
      ),
    );
  }

  #now(): number {
    return performance.now() - this.#begun;
  }
}
