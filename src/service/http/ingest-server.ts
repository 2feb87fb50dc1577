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
  /** Tenant of events that name none, from senders that are bound to none. */
  readonly tenant: string;
  /** Why no events are taken at this time; `undefined`: they are. */
  readonly refusal: () => Refusal | undefined;
  /** Why the service is not ready, though it may take events. */
  readonly unready: () => Refusal | undefined;
  /** The open runs at that time, in ms since 1970; the one that was silent longest first. */
  readonly openRuns: (atMs: number) => readonly OpenRun[];
  /** What `/metrics` says. */
  readonly metrics: () => string;
  /** What `/openapi.json` says. */
  readonly openapi: string;
  /** Told of faults of the service itself. */
  readonly onError: (error: unknown, where: string) => void;
}

/** How often requests are looked at for being late, in ms. */
const CHECK_MS = 1_000;
/** Beyond the service's own limit, so that its own answer, with results, comes first. */
const LAST_RESORT_MS = 10_000;
/** For the answers of requests that are ended by a drain, in ms. */
const LAST_WORD_MS = 3_000;
/** How long a connection stays open without a request, in ms. */
const KEEP_ALIVE_MS = 15_000;

/** The HTTP door: `POST /v1/events`, and what says how it is. */
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
    // One for each body that is being read: Node would warn of a leak from the eleventh sender on.
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

  /** Connections that are open. */
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
    const { server } = this.#front;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        server.on("error", (error) => this.#options.onError(error, "server"));
        const address = server.address();
        if (address === null || typeof address === "string") reject(new Error("expected a port"));
        else resolve(address);
      });
    });
  }

  /**
   * Takes no new connections and no new events, and lets what is being served come to its end. What
   * has not after `graceMs` is answered with what was taken of it.
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
      // Who does not read its answer, or a disk that hangs, is not waited for.
      sleep(graceMs + LAST_WORD_MS, undefined, { signal: late.signal }).catch(() => {}),
    ]);
    late.abort();
    clearTimeout(stop);
    server.closeAllConnections();
    await closed;
  }

  /** @returns whether the connection goes on. */
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

  /** @param own the tenant whose runs may be seen; `undefined`: of all. */
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
      return { status: 200, body: () => outcomes.json() };
    } catch (error) {
      if (error instanceof SenderGone) throw error;
      const refusal = this.#asRefusal(error);
      this.#options.figures.addRefusal(refusal.code);
      const told = JSON.stringify(refusalJson(refusal));
      const headers = refusalHeaders(refusal);
      return { status: refusal.status, headers, body: () => outcomes.json(told) };
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
    return new Refusal("internal", "the service has a fault; what has a result was taken");
  }
}

function draining(): Refusal {
  return new Refusal("draining", "the service is about to end; another will take over");
}
