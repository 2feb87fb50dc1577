import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import {
  type Answer,
  HttpFront,
  Refusal,
  readTarget,
  type StreamedAnswer,
  textAnswer,
  writeAnswer,
} from "../../service/door.ts";
import { jsonPieces } from "../json-pieces.ts";
import { ICON_POLICY, type PageFiles, pageEnd, pageStart, SESSION_META } from "../page-html.ts";
import type { RunParts } from "../runs/run-detail.ts";
import type { ViewedRuns } from "../runs/viewed-runs.ts";
import { checkRequest, PageAccess } from "./page-access.ts";

interface ViewServerOptions {
  readonly runs: Pick<ViewedRuns, "listJson" | "list" | "detail" | "parts">;
  readonly page: PageFiles;
  /** 0: any free port. */
  readonly port: number;
  /** Called with internal errors and errors of the sources. */
  readonly onError: (error: unknown) => void;
}

/** The server listens on this address only, so other machines cannot reach it. */
const HOST = "127.0.0.1";

/** Time for sending a request, in ms. */
const REQUEST_MS = 5_000;
/** How often connections are checked for late requests, in ms. */
const CHECK_MS = 1_000;
/** A browser opens six. Above the limit, the connection that was idle longest is closed. */
export const MOST_CONNECTIONS = 64;
/** Longest pause of a reader of an answer, in ms. */
const IDLE_MS = 30_000;

/** Headers of every answer. */
const HEADERS: OutgoingHttpHeaders = {
  "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; ${ICON_POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const STYLE = '<link rel="stylesheet" href="/page.css">';
const SCRIPT = '<script type="module" src="/page.js"></script>';

/**
 * Serves the page of `view` on this machine only: `/`, script and style, and the data as `/runs`, `/run` and
 * `/run/parts`. Only the data needs a session: page, script and style are the same in every copy of this package.
 */
export class ViewServer {
  readonly #options: ViewServerOptions;
  readonly #front: HttpFront;
  readonly #access = new PageAccess();

  private constructor(options: ViewServerOptions) {
    this.#options = options;
    this.#front = new HttpFront({
      server: { requestTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS },
      connections: { most: MOST_CONNECTIONS, spare: 0 },
      serve: async (request, response) =>
        writeAnswer(request, response, await this.#answerTo(request), IDLE_MS),
      onError: options.onError,
    });
  }

  /** @throws (rejects) when the port can't be listened on. */
  static async listen(options: ViewServerOptions): Promise<ViewServer> {
    const view = new ViewServer(options);
    await view.#front.listen(options.port, HOST);
    return view;
  }

  get port(): number {
    return this.#front.port;
  }

  /** The address of the page, for one browser. */
  get url(): string {
    return `http://${HOST}:${this.port}/?token=${this.#access.token}`;
  }

  /** Closes all connections. Resolves when no request is being served. */
  close(): Promise<void> {
    return this.#front.close();
  }

  async #answerTo(request: IncomingMessage): Promise<Answer | StreamedAnswer> {
    const answer = await this.#answerOf(request).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      const allow = error.code === "method" ? { allow: "GET, HEAD" } : {};
      return withHeaders(textAnswer(error.status, `${error.message}\n`), allow);
    });
    return withHeaders(answer, HEADERS);
  }

  /** @throws (rejects) Refusal */
  async #answerOf(request: IncomingMessage): Promise<Answer | StreamedAnswer> {
    checkRequest(request, this.port);
    const { path, query } = readTarget(request.url ?? "") ?? {};
    const { page, runs } = this.#options;
    switch (path) {
      case "/":
        return this.#page(request, query?.get("token") ?? undefined);
      case "/page.js":
        return textAnswer(200, page.script, "text/javascript");
      case "/page.css":
        return textAnswer(200, page.style, "text/css");
      default:
    }
    if (!this.#access.admits(request.headers.authorization)) {
      throw new Refusal("forbidden", NOT_ADMITTED);
    }
    this.#front.connections.admit(request.socket);
    switch (path) {
      case "/runs": {
        const since = sinceOf(query);
        return { status: 200, body: () => runs.listJson(since), streamed: true };
      }
      case "/run":
        return this.#run(query?.get("key") ?? "");
      case "/run/parts":
        return this.#parts(query?.get("key") ?? "", sinceOf(query));
      default:
        throw new Refusal("not_found", "There is nothing at this address.");
    }
  }

  /** The page, with a session in exchange for the token. A browser that has a session may send the used token. */
  #page({ headers, method, socket }: IncomingMessage, token: string | undefined): Answer {
    if (token === undefined) return pageAnswer(200);
    // Prefetching and HEAD requests, such as those for link previews, do not use up the token.
    const isAsked = method === "GET" && headers["sec-purpose"] === undefined;
    const session = isAsked ? this.#access.exchange(token) : undefined;
    if (session === undefined) return pageAnswer(403);
    this.#front.connections.admit(socket);
    return pageAnswer(200, `<meta name="${SESSION_META}" content="${session}">`);
  }

  async #run(key: string): Promise<StreamedAnswer> {
    const detail = await this.#options.runs.detail(key).catch((error: unknown) => {
      throw new Refusal("internal", this.#unreadable(error));
    });
    if (detail === undefined) throw this.#noRun();
    return { status: 200, body: () => jsonPieces(detail), streamed: true };
  }

  /** A run as lines of JSON: its head at once, so that the page can show it, and then the rest. */
  #parts(key: string, since: number | undefined): StreamedAnswer {
    const parts = this.#options.runs.parts(key, since);
    if (parts === undefined) throw this.#noRun();
    const headers = { "content-type": "application/x-ndjson" };
    return { status: 200, headers, body: () => this.#lines(parts), streamed: true };
  }

  async *#lines({ head, lines }: RunParts): AsyncGenerator<string, void, undefined> {
    yield `${JSON.stringify(head)}\n`;
    try {
      yield* lines();
    } catch (error) {
      yield `${JSON.stringify({ error: this.#unreadable(error) })}\n`;
    }
  }

  #unreadable(error: unknown): string {
    this.#options.onError(error);
    return `The run could not be read: ${error instanceof Error ? error.message : String(error)}`;
  }

  #noRun(): Refusal {
    const isCut = (this.#options.runs.list([]).left_out ?? 0) > 0;
    return new Refusal("not_found", NO_RUN + (isCut ? LEFT_OUT : ""));
  }
}

const NO_RUN = "There is no such run in what is viewed.";
const LEFT_OUT =
  " Older runs are left out: to see one of them, start the command with --run and its ID.";

const NOT_ADMITTED =
  "The address of this page works once, in one browser, and it was used or is incomplete. For a new address, stop the command and start it again.";

function pageAnswer(status: number, session = ""): Answer {
  const html = pageStart("entelix-otel view", session + STYLE) + pageEnd(SCRIPT);
  return textAnswer(status, html, "text/html");
}

function withHeaders<A extends Answer | StreamedAnswer>(
  answer: A,
  headers: OutgoingHttpHeaders,
): A {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** @throws Refusal */
function sinceOf(query: URLSearchParams | undefined): number | undefined {
  const text = query?.get("since") ?? undefined;
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Refusal("query", "expected since to be the revision of an earlier list");
}
