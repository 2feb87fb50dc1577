import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenRun } from "../../bridge/door.ts";
import type { Dialect, RecordedEvent } from "../../replay/door.ts";
import {
  type Answer,
  jsonAnswer,
  metricsAnswer,
  refusalHeaders,
  refusalJson,
  refusedAnswer,
  writeAnswer,
} from "./answer.ts";
import { LineChecker } from "./check-line.ts";
import type { EventGate } from "./event-gate.ts";
import { checkHead, hasExpectation, readEventHead } from "./event-request.ts";
import { BLOCK_BYTES, HeldBytes } from "./held-body.ts";
import { HttpFront } from "./http-front.ts";
import { type IngestLimits, SPARE_CONNECTIONS } from "./ingest-limits.ts";
import type { IngestFigures } from "./ingest-metrics.ts";
import { LineOutcomes } from "./line-outcomes.ts";
import { OpenRunsList, readRunsQuery, runsAnswer } from "./open-runs.ts";
import { Refusal, SenderGone } from "./refusal.ts";
import { RequestBody } from "./request-body.ts";
import { isLocalHost, isRoute, ROUTES, type Route, readTarget } from "./routes.ts";
import { takeEvents } from "./take-events.ts";
import type { Access } from "./tokens/access.ts";

interface IngestServerOptions {
  readonly limits: IngestLimits;
  readonly access: Access;
  readonly gate: EventGate;
  readonly figures: IngestFigures;
  readonly dialects: readonly Dialect<RecordedEvent>[];
  /** Tenant of events that name none, from senders without a tenant. */
  readonly tenant: string;
  /** The reason if no events are accepted now. */
  readonly refusal: () => Refusal | undefined;
  /** The reason if the service is not ready. It may still accept events. */
  readonly unready: () => Refusal | undefined;
  /** The open runs at a time in ms since 1970, longest idle first. */
  readonly openRuns: (atMs: number) => readonly OpenRun[];
  /** The text of `/metrics`. */
  readonly metrics: () => string;
  /** The text of `/openapi.json`. */
  readonly openapi: string;
  /** Called with internal errors. */
  readonly onError: (error: unknown, where: string) => void;
}

/** Interval of checks for late requests, in ms. */
const CHECK_MS = 1_000;
/** Added to the request limit for Node's own timeout, so that our answer with results comes first, in ms. */
const LAST_RESORT_MS = 10_000;
/** Extra time for the answers of requests that a drain stops, in ms. */
const LAST_WORD_MS = 3_000;
/** How long a connection without a request stays open, in ms. */
const KEEP_ALIVE_MS = 15_000;

/** The HTTP server: `POST /v1/events`, and endpoints for state and metrics. */
export class IngestServer {
  readonly #options: IngestServerOptions;
  readonly #front: HttpFront;
  readonly #held: HeldBytes;
  readonly #stop = new AbortController();
  readonly #names: readonly string[];
  readonly #openRuns: OpenRunsList;
  #draining = false;

  constructor(options: IngestServerOptions) {
    this.#options = options;
    this.#openRuns = new OpenRunsList(options.openRuns);
    // Each body that is read adds a listener. Node would warn of a leak from the eleventh on.
    setMaxListeners(0, this.#stop.signal);
    this.#names = ["auto", ...options.dialects.map(({ name }) => name)];
    const { headersMs, requestMs, maxConnections, maxHeldBytes, maxBodyBytes } = options.limits;
    const longest = Math.ceil(maxBodyBytes / BLOCK_BYTES) * BLOCK_BYTES;
    this.#held = new HeldBytes(Math.max(maxHeldBytes, longest));
    const { figures } = options;
    this.#front = new HttpFront({
      server: {
        headersTimeout: headersMs,
        requestTimeout: requestMs + LAST_RESORT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
        noDelay: true,
      },
      connections: { most: maxConnections, spare: SPARE_CONNECTIONS },
      serve: (request, response) => this.#serve(request, response),
      onRefused: ({ code }) => figures.addRefusal(code),
      onCut: () => {
        figures.senderGone += 1;
      },
      onDropped: () => {
        figures.connectionsDropped += 1;
      },
      onError: (error) => options.onError(error, "request"),
    });
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#front.connections.size;
  }

  /** Memory of compressed bodies that wait for their last byte. */
  get heldBytes(): number {
    return this.#held.used;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** @throws (rejects) an error of the system, such as EADDRINUSE. */
  listen(host: string, port: number): Promise<AddressInfo> {
    return this.#front.listen(port, host, (error) => this.#options.onError(error, "server"));
  }

  /**
   * Accepts no new connections and events, and finishes open requests. Requests that are still open after `graceMs` are
   * answered with the results so far.
   */
  async drain(graceMs: number): Promise<void> {
    const { server } = this.#front;
    this.#draining = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const late = new AbortController();
    const stop = setTimeout(() => this.#stop.abort(draining()), graceMs);
    await Promise.race([
      this.#front.served(),
      // Clients that do not read their answer, or a hanging disk, are not waited for.
      sleep(graceMs + LAST_WORD_MS, undefined, { signal: late.signal }).catch(() => {}),
    ]);
    late.abort();
    clearTimeout(stop);
    server.closeAllConnections();
    await closed;
  }

  /** @returns whether the connection stays open. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { figures, limits } = this.#options;
    if (request.socket.destroyed) return false;
    const target = readTarget(request.url ?? "");
    const route = target !== undefined && isRoute(target.path) ? target.path : undefined;
    let answer: Answer;
    try {
      checkHead(request);
      if (route === undefined) throw new Refusal("not_found", "expected a path of /openapi.json");
      const query = target?.query ?? new URLSearchParams();
      answer = await this.#answer(route, query, request, response);
    } catch (error) {
      if (error instanceof SenderGone) {
        figures.senderGone += 1;
        request.socket.destroy();
        return false;
      }
      answer = this.#refused(this.#asRefusal(error), route);
    }
    if (this.#draining) answer = { ...answer, headers: { ...answer.headers, connection: "close" } };
    figures.addRequest(route ?? "other", answer.status);
    return writeAnswer(request, response, answer, limits.idleMs);
  }

  async #answer(
    route: Route,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> {
    const methods: readonly string[] = ROUTES[route];
    const { method = "", headers, socket } = request;
    if (!methods.includes(method)) {
      throw new Refusal("method", `expected ${methods.join(" or ")}, got ${method}`);
    }
    const { access, metrics, openapi, unready } = this.#options;
    if (!access.closed && !isLocalHost(headers.host)) {
      throw new Refusal("host", "expected a Host that names this machine");
    }
    switch (route) {
      case "/v1/events": {
        const sender = access.sender(headers.authorization);
        if (!this.#front.connections.admit(socket)) {
          throw new Refusal("connections", "too many connections send events", 1);
        }
        if (this.#draining) throw draining();
        const refusal = this.#options.refusal();
        if (refusal !== undefined) throw refusal;
        const { limits, dialects, tenant } = this.#options;
        const { encoding, dialect } = readEventHead(
          headers,
          query,
          this.#names,
          limits.maxBodyBytes,
        );
        if (hasExpectation(request)) response.writeContinue();
        const checker = new LineChecker(dialects, sender, dialect, tenant);
        return this.#events(request, { ...sender, checker, encoding });
      }
      case "/v1/runs": {
        const own = access.runs(headers.authorization, socket.remoteAddress);
        return this.#runs(query, own);
      }
      case "/healthz":
        return jsonAnswer(200, { status: "ok" });
      case "/readyz": {
        const refusal = this.#draining ? draining() : unready();
        if (refusal === undefined) return jsonAnswer(200, { status: "ready" });
        return refusedAnswer(refusal);
      }
      case "/metrics": {
        access.metrics(headers.authorization, headers.host);
        return metricsAnswer(metrics());
      }
      case "/openapi.json":
        return { status: 200, body: () => [openapi] };
      default:
        return route satisfies never;
    }
  }

  /** @param own the tenant whose runs may be seen. `undefined`: all. */
  #runs(query: URLSearchParams, own: string | undefined): Answer {
    const asked = readRunsQuery(query);
    if (own !== undefined && (asked.tenant ?? own) !== own) {
      throw new Refusal("forbidden", "expected tenant to be that of the token, or none");
    }
    return runsAnswer(this.#openRuns.now(), { ...asked, tenant: own ?? asked.tenant });
  }

  async #events(
    request: IncomingMessage,
    sent: Pick<Parameters<typeof takeEvents>[0], "bucket" | "checker" | "encoding"> & {
      readonly tenant: string | undefined;
    },
  ): Promise<Answer> {
    const { figures, gate, limits } = this.#options;
    const body = new RequestBody(request, {
      maxBytes: limits.maxBodyBytes,
      idleMs: limits.idleMs,
      totalMs: limits.requestMs,
      stop: this.#stop.signal,
      broken: this.#front.connections.brokenSignal(request.socket),
    });
    const outcomes = new LineOutcomes();
    const onText = (bytes: number) => {
      figures.textBytes += bytes;
    };
    try {
      const held = this.#held;
      await takeEvents({ ...sent, body, held, onText }, gate, limits, outcomes);
      return { status: 200, body: outcomes.json() };
    } catch (error) {
      if (error instanceof SenderGone) throw error;
      const refusal = this.#asRefusal(error);
      this.#options.figures.addRefusal(refusal.code);
      const errorJson = JSON.stringify(refusalJson(refusal));
      const headers = refusalHeaders(refusal);
      return { status: refusal.status, headers, body: outcomes.json(errorJson) };
    } finally {
      figures.receivedBytes += body.bytes;
      figures.addLines(sent.tenant, outcomes.counts);
      figures.unknownLines += outcomes.unknown;
    }
  }

  #refused(refusal: Refusal, route: Route | undefined): Answer {
    this.#options.figures.addRefusal(refusal.code);
    const allows = refusal.code === "method" && route !== undefined;
    return refusedAnswer(refusal, allows ? { allow: ROUTES[route].join(", ") } : {});
  }

  #asRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    this.#options.onError(error, "request");
    return new Refusal("internal", "Internal error. Lines listed in `results` were stored.");
  }
}

function draining(): Refusal {
  return new Refusal("draining", "The service is shutting down. Send the request again later.");
}
