import { codeOf } from "../../storage/system-error.ts";

/**
 * The error, and in place of Node's about the name of a header one without that name: where somebody wrote
 * `Authorization: Bearer x==` into a variable, all before the equals sign is taken for it, the token too.
 */
export function withoutHeaderName(error: Error): Error {
  const code = codeOf(error);
  if (code !== "ERR_INVALID_HTTP_TOKEN") return error;
  return Object.assign(new TypeError("a header has a name that HTTP can't carry"), { code });
}
