import { cutToWidth, LiveLines, type Output, padToWidth, safe } from "../../../cli/door.ts";
import type { AgentEvent } from "../../../events/door.ts";
import { highest } from "../../../events/format/door.ts";
import { BUNDLED_RECORDINGS, type BundledRecording } from "./recordings.ts";

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

/** What one recording is doing while it is played: which runs and calls are open, how runs ended. */
class RunWatch {
  /** Milliseconds after the beginning; `undefined` before the first event. */
  startedMs: number | undefined;
  endedMs: number | undefined;
  readonly tenants = new Set<string>();
  readonly endings: string[] = [];
  failed = false;
  paused = false;
  readonly #open = new Map<string, string>();
  #runs = 0;

  /** Names of the open runs and calls, outermost first. */
  get path(): readonly string[] {
    return [...this.#open.values()];
  }

  take(event: AgentEvent, nowMs: number): void {
    this.startedMs ??= nowMs;
    this.tenants.add(event.tenant_id);
    switch (event.type) {
      case "started":
        this.#runs++;
        this.#open.set(event.run_id, event.agent);
        return;
      case "tool_start":
        this.#open.set(callKey(event), event.tool);
        return;
      case "tool_complete":
      case "tool_error":
        this.#open.delete(callKey(event));
        return;
      case "tool_call_asked":
      case "tool_call_approved":
      case "tool_call_denied":
      case "model_start":
      case "model_complete":
      case "model_error":
      case "step_start":
      case "step_complete":
      case "step_error":
        return;
      case "complete":
        this.#end(event.run_id, "complete", nowMs);
        return;
      case "failed":
        this.failed = true;
        this.#end(event.run_id, `failed: ${event.kind?.type ?? event.envelope.wire_code}`, nowMs);
        return;
      case "interrupted":
        this.paused = true;
        this.#end(event.run_id, `paused: ${event.kind.type}`, nowMs);
        return;
      default:
        event satisfies never;
    }
  }

  #end(runId: string, how: string, nowMs: number): void {
    this.#open.delete(runId);
    this.#runs--;
    if (this.#runs > 0) return;
    // A child's end is not the end of the story: the outermost run's is.
    this.endings.push(how);
    this.endedMs = nowMs;
  }
}

function callKey(event: { readonly run_id: string; readonly tool_use_id: string }): string {
  return `${event.run_id}/${event.tool_use_id}`;
}

const TITLE_WIDTH = highest(BUNDLED_RECORDINGS.map(({ title }) => title.length));
const ORIGIN_WIDTH = "constructed".length;

/** Where a recording comes from, in one word. */
export function originOf({ constructed }: BundledRecording): string {
  return constructed ? "constructed" : "recorded";
}

/** A recording and what it is doing, on one line. */
function watchLine(
  recording: BundledRecording,
  watch: RunWatch,
  nowMs: number,
  output: Output,
): string {
  const { endedMs, startedMs } = watch;
  const left = `${padToWidth(recording.title, TITLE_WIDTH)}  ${originOf(recording).padEnd(ORIGIN_WIDTH)}  `;
  if (startedMs === undefined) return output.style("dim", cutToWidth(`  ${left}`, output.columns));
  const seconds = `${(((endedMs ?? nowMs) - startedMs) / 1000).toFixed(1)} s  `;
  const tenants = `${safe([...watch.tenants].join(", "))}  `;
  const doing = endedMs === undefined ? watch.path.join(" › ") : watch.endings.join(", ");
  const text = cutToWidth(left + seconds + tenants + safe(doing), output.columns - 2);
  if (endedMs === undefined) return `${output.style("cyan", "▸")} ${text}`;
  if (watch.failed) return `${output.style("red", "✗")} ${text}`;
  return watch.paused
    ? `${output.style("yellow", "•")} ${text}`
    : `${output.style("green", "✓")} ${text}`;
}
