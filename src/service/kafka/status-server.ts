import type { IncomingMessage } from "node:http";
import {
  type Answer,
  metricsAnswer,
  refusedAnswer,
  textAnswer,
  writeAnswer,
} from "../http/answer.ts";
import { checkHead } from "../http/event-request.ts";
import { HttpFront } from "../http/http-front.ts";
import { Refusal } from "../http/refusal.ts";
import { isLocalHost, isLoopback } from "../http/routes.ts";

export interface StatusOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The reason if this worker is not ready. `undefined`: it is ready. */
  readonly notReady: () => string | undefined;
  readonly metrics: () => string;
  /** Called with internal errors of the server. */
  readonly onError: (error: unknown) => void;
}

const REQUEST_MS = 5_000;
const MOST_CONNECTIONS = 64;
/** Maximum time in which the reader of an answer reads nothing, in ms. */
const IDLE_MS = 5_000;

/** Answers `/healthz`, `/readyz` and `/metrics`. Read-only, and without reading bodies. */
export class StatusServer {
  readonly #front: HttpFront;

  private constructor(front: HttpFront) {
    this.#front = front;
  }

  /** @throws (rejects) if the address can't be used. */
  static async listen(options: StatusOptions): Promise<StatusServer> {
    const { host, port } = options;
    const front = new HttpFront({
      server: { requestTimeout: REQUEST_MS },
      connections: { most: MOST_CONNECTIONS, spare: 0 },
      serve: async (request, response) =>
        writeAnswer(request, response, answerTo(request, options), IDLE_MS),
      onError: options.onError,
    });
    await front.listen(port, host);
    return new StatusServer(front);
  }

  get port(): number {
    return this.#front.port;
  }

  close(): Promise<void> {
    return this.#front.close();
  }
}

function answerTo(request: IncomingMessage, options: StatusOptions): Answer {
  try {
    checkHead(request);
    return answerOf(request, options);
  } catch (error) {
    if (error instanceof Refusal) return refusedAnswer(error);
    throw error;
  }
}

/** @throws Refusal */
function answerOf({ method, url, headers }: IncomingMessage, options: StatusOptions): Answer {
  // A web page that uses a local name for itself must not read it.
  if (isLoopback(options.host) && !isLocalHost(headers.host)) {
    throw new Refusal("host", "expected a Host that names this machine");
  }
  if (method !== "GET" && method !== "HEAD") {
    const refusal = new Refusal("method", `expected GET or HEAD, got ${method}`);
    return refusedAnswer(refusal, { allow: "GET, HEAD" });
  }
  switch (url?.split("?", 1)[0]) {
    case "/healthz":
      return textAnswer(200, "ok\n");
    case "/readyz": {
      const reason = options.notReady();
      return reason === undefined ? textAnswer(200, "ready\n") : textAnswer(503, `${reason}\n`);
    }
    case "/metrics":
      return metricsAnswer(options.metrics());
    default:
      throw new Refusal("not_found", "expected /healthz, /readyz or /metrics");
  }
}
