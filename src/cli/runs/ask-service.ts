import { inputText, type OnWait } from "../../audit/door.ts";
import { shownUrl } from "../../bridge/door.ts";
import { type FieldIssue, trimmedEnd } from "../../events/door.ts";
import { OPEN_RUNS, type OpenRunsAnswer } from "../../service/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { httpUrl } from "../endpoints.ts";
import { DEFAULT_LISTEN } from "../services/options.ts";
import { safe } from "../terminal/text.ts";

/** Default URL of `serve`. */
export const DEFAULT_URL = `http://${DEFAULT_LISTEN}`;

/** Environment variable with the token. */
export const TOKEN_VARIABLE = "ENTELIX_SERVE_TOKEN";

/** Time limit of an answer, in ms. */
const ANSWER_MS = 10_000;

/** Characters of a token. With others, `fetch` would show it in its error. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The token for the request: from the file, else from the variable, else none.
 *
 * @param onWait called before waiting for a pipe.
 * @throws CliError if the file cannot be read or has no token.
 */
export async function tokenFrom(
  file: string | undefined,
  variable: string | undefined,
  onWait: OnWait,
): Promise<string | undefined> {
  if (file === undefined) {
    const text = variable?.trim();
    return text ? checked(TOKEN_VARIABLE, text) : undefined;
  }
  const text = await inputText(file, onWait).catch((error: unknown) => {
    const message = `--token-file: ${safe(file)}: ${safe(messageOf(error))}`;
    throw new CliError(message, undefined, { cause: error });
  });
  // The file may be the output of `entelix-otel token`, whose first line is the token.
  return checked(`--token-file: ${safe(file)}`, text.split("\n")[0]?.trim() ?? "");
}

function checked(where: string, token: string): string {
  // The token is a secret, so the error does not show it.
  if (TOKEN.test(token)) return token;
  throw new CliError(`${where}: expected a token, as entelix-otel token prints it`);
}

/**
 * Asks a running `serve` for its open runs.
 *
 * @throws CliError if it does not answer, refuses, or sends an unexpected answer.
 */
export async function askForRuns(
  url: string,
  query: URLSearchParams,
  token: string | undefined,
): Promise<OpenRunsAnswer> {
  const address = httpUrl("--url", url, DEFAULT_URL);
  address.pathname = `${trimmedEnd(address.pathname, "/")}/v1/runs`;
  address.search = query.toString();
  const shown = safe(shownUrl(address.origin + address.pathname));
  if (address.username !== "" || address.password !== "") {
    throw new CliError("--url: expected an address without user and password", TOKEN_HINT);
  }
  const { status, text } = await fetched(address, shown, token);
  const value = parsed(text);
  if (status !== 200) throw refused(shown, status, value);
  if (OPEN_RUNS.fits(value)) return value;
  const issues: FieldIssue[] = [];
  OPEN_RUNS.explain(value, "", issues);
  const [{ field, expected } = { field: "", expected: "open runs" }] = issues;
  const where = field === "" ? "" : ` in ${safe(field)}`;
  throw new CliError(`${shown}: expected ${expected}${where}`, "Is it entelix-otel serve?");
}

async function fetched(
  address: URL,
  shown: string,
  token: string | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(address, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      // A redirect must not get the token.
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const late = cause instanceof Error && cause.name === "TimeoutError";
    const reason = late ? `no answer within ${ANSWER_MS / 1_000} s` : messageOf(cause);
    throw new CliError(`${shown}: ${safe(reason)}`, "Is entelix-otel serve running there?", {
      cause: error,
    });
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

const TOKEN_HINT = `Set the token with --token-file or ${TOKEN_VARIABLE}.`;

function refused(shown: string, status: number, value: unknown): CliError {
  const error: unknown = Reflect.get(Object(value), "error");
  const message: unknown = Reflect.get(Object(error), "message");
  const reason = typeof message === "string" ? `: ${safe(message)}` : "";
  const hint = status === 401 || status === 403 ? TOKEN_HINT : undefined;
  return new CliError(`${shown}: refused with ${status}${reason}`, hint);
}
