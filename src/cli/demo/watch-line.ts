import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";
import { cutToWidth, padToWidth } from "../terminal/text-width.ts";
import { BUNDLED_RECORDINGS, type BundledRecording } from "./bundled-recordings.ts";
import type { RunWatch } from "./run-watch.ts";

const TITLE_WIDTH = Math.max(...BUNDLED_RECORDINGS.map(({ title }) => title.length));
const ORIGIN_WIDTH = "constructed".length;

/** Where a recording comes from, in one word. */
export function originOf({ constructed }: BundledRecording): string {
  return constructed ? "constructed" : "recorded";
}

/** A recording and what it is doing, on one line. */
export function watchLine(
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
