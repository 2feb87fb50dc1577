import {
  checkFunction,
  checkHas,
  checkOptionsObject,
  checkWhole,
  tellHook,
} from "../../events/door.ts";
import { DEFAULT_EVENT_IDS } from "../session-log.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import type { Recovery } from "./open-log.ts";

/**
 * How safe a row is when its append resolves:
 *
 * - `none`: with the operating system. It survives the death of the process, not of the machine.
 * - `batch`: on the disk; the appends that wait at a time share one write and one `fdatasync`.
 * - `each`: on the disk, with a write and an `fdatasync` of its own.
 */
export type Durability = "none" | "batch" | "each";

/** How a log in a directory is kept; every field has a default. */
export interface NdjsonSessionLogOptions {
  /** Default `batch`. */
  readonly durability?: Durability | undefined;
  /** A segment is sealed when it has this many bytes. Default 64 MiB, at least 1,024. */
  readonly segmentBytes?: number | undefined;
  /**
   * Event ids remembered, at least: an entry with one of them is not written again. After reopening
   * they are those of the last so many rows. Default 100,000.
   */
  readonly eventIds?: number | undefined;
  /**
   * Memory for finding the event ids of all earlier rows, in bytes. Above 0, an entry whose thread has
   * rows in sealed segments is looked for there: each such segment is read once, for 72 bytes a row. Of
   * a thread's segments the newest are searched, as many as fit. Default 0: only the `eventIds` are
   * known.
   */
  readonly lookUpBytes?: number | undefined;
  /** Heads of threads kept in memory, at least; others are read from the disk. Default 100,000. */
  readonly heads?: number | undefined;
  /** An append is refused while this many bytes wait to be written. Default 256 MiB. */
  readonly maxPendingBytes?: number | undefined;
  /** Called when opening found what a crash or an edit has left. Default: no call. */
  readonly onRecovered?: ((recovery: Recovery) => void) | undefined;
  /**
   * Called with failures that cost no row: an index not written, a segment not moved. Its own errors are
   * ignored. Default: no call.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

export type NdjsonSettings = {
  readonly [Name in keyof NdjsonSessionLogOptions]-?: NonNullable<NdjsonSessionLogOptions[Name]>;
};

/**
 * The options with their defaults.
 *
 * @throws TypeError naming the option that is of another type.
 * @throws RangeError naming the option that is out of range.
 */
export function ndjsonSettings(options: NdjsonSessionLogOptions): NdjsonSettings {
  checkOptionsObject(options);
  checkFunction(options.onRecovered, "onRecovered");
  checkFunction(options.onError, "onError");
  checkHas(options.files, "files", "lock");
  const settings: NdjsonSettings = {
    durability: options.durability ?? "batch",
    segmentBytes: options.segmentBytes ?? 64 * 1024 * 1024,
    eventIds: options.eventIds ?? DEFAULT_EVENT_IDS,
    lookUpBytes: options.lookUpBytes ?? 0,
    heads: options.heads ?? 100_000,
    maxPendingBytes: options.maxPendingBytes ?? 256 * 1024 * 1024,
    onRecovered: options.onRecovered ?? (() => {}),
    onError: (error) => tellHook(options.onError, error),
    files: options.files ?? nodeFileLayer,
  };
  if (!["none", "batch", "each"].includes(settings.durability)) {
    throw new RangeError(`durability: expected none, batch or each, got ${settings.durability}`);
  }
  checkWhole(settings.segmentBytes, "segmentBytes", 1024);
  checkWhole(settings.eventIds, "eventIds", 1);
  checkWhole(settings.lookUpBytes, "lookUpBytes", 0);
  checkWhole(settings.heads, "heads", 1);
  checkWhole(settings.maxPendingBytes, "maxPendingBytes", 1);
  return settings;
}

/**
 * `mysql://` of a place that is a URL and no directory: as a directory it would become folders with
 * its password in their names.
 */
export function urlScheme(place: string): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.exec(place)?.[0];
}
