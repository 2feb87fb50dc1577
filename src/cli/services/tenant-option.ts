import { MOST_NAME } from "../../events/value-limits.ts";
import { CliError } from "../cli-error.ts";

/** Whose the events are that name no tenant, unless `--tenant` says. */
const DEFAULT_TENANT = "default";

/**
 * Reads `--tenant`.
 *
 * @throws CliError when it is no name that an audit row can have: the rows would be refused for good.
 */
export function tenantOption(text: string | undefined): string {
  if (text === undefined) return DEFAULT_TENANT;
  if (text !== "" && text.length <= MOST_NAME) return text;
  throw new CliError(`--tenant: expected 1 to ${MOST_NAME} characters, got ${text.length}`);
}
