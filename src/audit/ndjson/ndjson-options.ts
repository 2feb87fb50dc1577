import {
  callErrorHook,
  callHook,
  checkEach,
  checkedElsewhere,
  checkFunction,
  having,
  type OptionChecks,
  wholeFrom,
} from "../../events/door.ts";
import { DEFAULT_EVENT_IDS } from "../session-log.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import type { Recovery } from "./open-log.ts";

/**
 * How safe a row is when its append resolves:
 *
 * - `none`: it is written to the operating system. It survives a crash of the process, not of the machine.
 * - `batch`: it is on the disk. Waiting appends share one write and one `fdatasync`.
 * - `each`: it is on the disk, with its own write and `fdatasync`.
 */
export type Durability = "none" | "batch" | "each";

/** Options of a log in a directory. Every field has a default. */
export interface NdjsonSessionLogOptions {
  /** Default `batch`. */
  readonly durability?: Durability | undefined;
  /** A segment is sealed when it has this many bytes. Default 64 MiB, at least 1,024. */
  readonly segmentBytes?: number | undefined;
  /**
   * Event IDs remembered, at least. An entry with one of them is not written again. After reopening they are the IDs
   * of the last rows. Default 100,000.
   */
  readonly eventIds?: number | undefined;
  /**
   * Memory in bytes for finding the event IDs of all earlier rows. Above 0, an entry is searched for in the sealed
   * segments that have rows of its thread. Each is read once and takes 72 bytes a row. The newest segments are
   * searched, as many as fit. Default 0: only `eventIds` are known.
   */
  readonly lookUpBytes?: number | undefined;
  /** Heads of threads kept in memory, at least. Others are read from the disk. Default 100,000. */
  readonly heads?: number | undefined;
  /** An append is refused while this many bytes wait to be written. Default 256 MiB. */
  readonly maxPendingBytes?: number | undefined;
  /**
   * Called when opening found traces of a crash or an edit. Its errors go to `onError`. Default: no call.
   */
  readonly onRecovered?: ((recovery: Recovery) => void) | undefined;
  /**
   * Called with failures that lose no row: an index was not written, a segment was not moved. Errors that it throws
   * are ignored. Default: no call.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

export type NdjsonSettings = {
  readonly [Name in keyof NdjsonSessionLogOptions]-?: NonNullable<NdjsonSessionLogOptions[Name]>;
};

const CHECKS: OptionChecks<NdjsonSessionLogOptions> = {
  durability: checkedElsewhere,
  segmentBytes: wholeFrom(1024),
  eventIds: wholeFrom(1),
  lookUpBytes: wholeFrom(0),
  heads: wholeFrom(1),
  maxPendingBytes: wholeFrom(1),
  onRecovered: checkFunction,
  onError: checkFunction,
  files: having("lock"),
};

/**
 * The options with their defaults.
 *
 * @throws TypeError naming the option that is of another type.
 * @throws RangeError naming the option that is out of range.
 */
export function ndjsonSettings(given: NdjsonSessionLogOptions): NdjsonSettings {
  const options = checkEach(given, CHECKS);
  const settings: NdjsonSettings = {
    durability: options.durability ?? "batch",
    segmentBytes: options.segmentBytes ?? 64 * 1024 * 1024,
    eventIds: options.eventIds ?? DEFAULT_EVENT_IDS,
    lookUpBytes: options.lookUpBytes ?? 0,
    heads: options.heads ?? 100_000,
    maxPendingBytes: options.maxPendingBytes ?? 256 * 1024 * 1024,
    onRecovered: (recovery) =>
      callHook(() => options.onRecovered?.({ ...recovery }), options.onError),
    onError: (error) => callErrorHook(options.onError, error),
    files: options.files ?? nodeFileLayer,
  };
  if (!["none", "batch", "each"].includes(settings.durability)) {
    throw new RangeError(`durability: expected none, batch or each, got ${settings.durability}`);
  }
  return settings;
}

/**
 * The scheme of a URL such as `mysql://`. `undefined` for a path. A URL used as a directory would make folders with
 * its password in their names.
 */
export function urlScheme(location: string): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.exec(location)?.[0];
}
