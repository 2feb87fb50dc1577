import { inputText, type OnWait } from "../../audit/door.ts";
import { type FieldIssue, trimmedEnd } from "../../events/door.ts";
import { OPEN_RUNS, type OpenRunsAnswer } from "../../service/door.ts";
import { CliError, messageOf } from "../cli-error.ts";
import { httpUrl } from "../endpoints.ts";
import { DEFAULT_LISTEN } from "../services/options.ts";
import { safe } from "../terminal/text.ts";

/** Where `serve` listens unless `--url` says otherwise. */
export const DEFAULT_URL = `http://${DEFAULT_LISTEN}`;

/** The variable with the token. */
export const TOKEN_VARIABLE = "ENTELIX_SERVE_TOKEN";

/** How long the service may take to answer, in ms. */
const ANSWER_MS = 10_000;

/** What a token may consist of: else `fetch` would quote it in its error. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * The token that the service is asked with: of the file, else of the variable, else none.
 *
 * @param onWait told that the file is a pipe, and waited for.
 * @throws CliError when the file can't be read, or there is no token in it.
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
    const said = `--token-file: ${safe(file)}: ${safe(messageOf(error))}`;
    throw new CliError(said, undefined, { cause: error });
  });
  // The output of `entelix-otel token`: its first line is the token.
  return checked(`--token-file: ${safe(file)}`, text.split("\n")[0]?.trim() ?? "");
}

function checked(where: string, token: string): string {
  // It is a secret: it is not shown.
  if (TOKEN.test(token)) return token;
  throw new CliError(`${where}: expected a token, as entelix-otel token prints it`);
}

/**
 * Asks a running `serve` for its open runs.
 *
 * @throws CliError when it does not answer, refuses, or answers with something else.
 */
export async function askForRuns(
  url: string,
  query: URLSearchParams,
  token: string | undefined,
): Promise<OpenRunsAnswer> {
  const address = httpUrl("--url", url, DEFAULT_URL);
  address.pathname = `${trimmedEnd(address.pathname, "/")}/v1/runs`;
  address.search = query.toString();
  const shown = safe(address.origin + address.pathname);
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
      // The token is for this address alone.
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const late = cause instanceof Error && cause.name === "TimeoutError";
    const said = late ? `no answer within ${ANSWER_MS / 1_000} s` : messageOf(cause);
    throw new CliError(`${shown}: ${safe(said)}`, "Is entelix-otel serve running there?", {
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

const TOKEN_HINT = `The token comes from --token-file, or from ${TOKEN_VARIABLE}.`;

function refused(shown: string, status: number, value: unknown): CliError {
  const error: unknown = Reflect.get(Object(value), "error");
  const message: unknown = Reflect.get(Object(error), "message");
  const said = typeof message === "string" ? `: ${safe(message)}` : "";
  const hint = status === 401 || status === 403 ? TOKEN_HINT : undefined;
  return new CliError(`${shown}: refused with ${status}${said}`, hint);
}
