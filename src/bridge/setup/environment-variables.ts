import {
  DiagConsoleLogger,
  type DiagLogFunction,
  type DiagLogger,
  DiagLogLevel,
  diag,
} from "@opentelemetry/api";
import { isRegistered } from "../global-registration.ts";
import type { ErrorHook } from "../report.ts";
import { withoutSecretsOfUrls } from "./shown-url.ts";

/** An environment variable, trimmed. `undefined` if it is unset or blank. */
export function environmentText(name: string): string | undefined {
  const text = process.env[name]?.trim();
  return text === "" ? undefined : text;
}

/**
 * Reads a whole number from an environment variable.
 *
 * @returns the default if the variable is unset or invalid. An invalid one is also reported as a warning.
 */
export function environmentNumber(
  name: string,
  range: { readonly from: number; readonly to: number; readonly byDefault: number },
): number {
  const text = environmentText(name);
  if (text === undefined) return range.byDefault;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= range.from && value <= range.to) return value;
  const expected = `a whole number from ${range.from} to ${range.to}`;
  const taken = range.byDefault === Number.POSITIVE_INFINITY ? "no limit" : String(range.byDefault);
  warnOfVariable(name, text, expected, taken);
  return range.byDefault;
}

/** Reads `true` or `false`, in any case. Default, also for another value, which is reported: `false`. */
export function environmentSwitch(name: string): boolean {
  const text = environmentText(name)?.toLowerCase();
  if (text !== undefined && text !== "true" && text !== "false") {
    warnOfVariable(name, text, "true or false", "false");
  }
  return text === "true";
}

/** Warns through the diagnostic logger that a variable is invalid, and which value is used. */
export function warnOfVariable(name: string, got: string, expected: string, taken: string): void {
  diag.warn(`entelix-otel: ${name}: expected ${expected}, got "${got}"; using ${taken}`);
}

/** Warns that a variable, or its value, does not do what it seems to do. */
export function warnOfNoEffect(name: string, advice: string): void {
  diag.warn(`entelix-otel: ${name}: it has no effect: ${advice}`);
}

const LEVELS: ReadonlyMap<string, DiagLogLevel> = new Map([
  ["none", DiagLogLevel.NONE],
  ["error", DiagLogLevel.ERROR],
  ["warn", DiagLogLevel.WARN],
  ["info", DiagLogLevel.INFO],
  ["debug", DiagLogLevel.DEBUG],
  ["verbose", DiagLogLevel.VERBOSE],
  ["all", DiagLogLevel.ALL],
]);

/** The texts on the console while a setup reads its variables. Spans and metrics read the same ones. */
let said: Set<string> | undefined;

/**
 * The console, without passwords in addresses, since the SDK prints an endpoint that it cannot use, and without what a
 * setup has said already.
 */
function consoleLogger(): DiagLogger {
  const logger = new DiagConsoleLogger();
  const safe =
    (level: keyof DiagLogger): DiagLogFunction =>
    (...parts) => {
      for (const [at, part] of parts.entries()) {
        if (typeof part === "string") parts[at] = withoutSecretsOfUrls(part);
      }
      const text = parts.join(" ");
      if (said?.has(text)) return;
      said?.add(text);
      logger[level](...parts);
    };
  return {
    error: safe("error"),
    warn: safe("warn"),
    info: safe("info"),
    debug: safe("debug"),
    verbose: safe("verbose"),
  };
}

/** Sets OpenTelemetry's diagnostic logger to the console if `OTEL_LOG_LEVEL` is set and there is no logger. */
export function applyLogLevel(): void {
  const text = environmentText("OTEL_LOG_LEVEL");
  if (text === undefined || isRegistered("diag")) return;
  const level = LEVELS.get(text.toLowerCase());
  diag.setLogger(consoleLogger(), level ?? DiagLogLevel.INFO);
  if (level === undefined) {
    warnOfVariable("OTEL_LOG_LEVEL", text, `one of ${[...LEVELS.keys()].join(", ")}`, "info");
  }
}

/**
 * The default of `onError`: OpenTelemetry's diagnostic logger, or the console without one, so that a loss is
 * always reported.
 */
export const warnAloud: ErrorHook = (error, where) => {
  const logger = isRegistered("diag") ? diag : consoleLogger();
  logger.warn(`entelix-otel: ${where}: ${String(error)}`);
};

/**
 * Calls `read` with warnings on the console if there is no diagnostic logger, each once. So an unsupported value such
 * as `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` is always reported.
 *
 * @param read reads variables, synchronously. Messages after its return are not affected.
 */
export function variablesAloud<T>(read: () => T): T {
  const isSilent = environmentText("OTEL_LOG_LEVEL") === undefined && !isRegistered("diag");
  if (isSilent) diag.setLogger(consoleLogger(), DiagLogLevel.WARN);
  said = new Set();
  try {
    return read();
  } finally {
    said = undefined;
    if (isSilent) diag.disable();
  }
}
