import { type AnyRuntime, DIALECT_NAMES, RUNTIMES } from "../../runtimes/runtimes.ts";
import { CliError } from "../cli-error.ts";
import { nearest } from "../nearest.ts";
import { safe } from "../terminal/safe-text.ts";

/**
 * The runtimes that a source may come from.
 *
 * @throws CliError when there is none of this name.
 */
export function runtimesNamed(name = "auto"): readonly [AnyRuntime, ...AnyRuntime[]] {
  if (name === "auto") return RUNTIMES;
  const runtime = RUNTIMES.find(({ dialect }) => dialect.name === name);
  if (runtime !== undefined) return [runtime];
  const meant = nearest(name, DIALECT_NAMES);
  throw new CliError(
    `--dialect: expected one of ${DIALECT_NAMES.join(", ")}; got "${safe(name)}"`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}
