import type { Context, TimeInput } from "@opentelemetry/api";
import { checkedElsewhere, checkGiven, checkObject, type OptionChecks } from "../events/door.ts";
import { checkWait } from "./spans/within.ts";

/** A value of an attribute of a log record, which can be structured. */
export type LogValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | LogValue[]
  | { [name: string]: LogValue };

/**
 * The part of a log record of `@opentelemetry/api-logs` that is used. The types here are copies,
 * so that the main entry needs no package for logs.
 */
export interface LogRecordLike {
  eventName?: string;
  timestamp?: TimeInput;
  severityNumber?: number;
  severityText?: string;
  body?: string;
  attributes?: Record<string, LogValue>;
  context?: Context;
}

/** The part of a `Logger` of `@opentelemetry/api-logs` that is used. */
export interface LoggerLike {
  emit(record: LogRecordLike): void;
}

/** The part of a `LoggerProvider` of `@opentelemetry/api-logs` that is used. */
export interface LoggerProviderLike {
  getLogger(name: string, version?: string, options?: { readonly schemaUrl?: string }): LoggerLike;
}

/** Options for log records about open runs. */
export interface ProgressOptions {
  /** The logger provider, for example that of `@opentelemetry/sdk-logs`. It stays yours to shut down. */
  readonly loggerProvider: LoggerProviderLike;
  /** Time between two records of an open run, in ms, from 100. Default 30,000. */
  readonly everyMs?: number | undefined;
}

/** The names of the options. */
export const PROGRESS_CHECKS: OptionChecks<ProgressOptions> = {
  loggerProvider: checkedElsewhere,
  everyMs: checkedElsewhere,
};

const LEAST_MS = 100;

/**
 * @throws TypeError when the options are not an object, or `loggerProvider` is not a logger provider.
 * @throws RangeError when `everyMs` is not a number of milliseconds from 100.
 */
export function checkProgressOptions(progress: ProgressOptions | undefined): void {
  checkObject(progress, "progress");
  if (progress === undefined) return;
  checkGiven(progress.loggerProvider, "progress.loggerProvider", "getLogger");
  const { everyMs } = progress;
  if (everyMs !== undefined) checkWait(everyMs, "progress.everyMs", LEAST_MS);
}
