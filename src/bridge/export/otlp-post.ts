import type { Agent, ClientRequest, IncomingMessage, RequestOptions, request } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { context } from "@opentelemetry/api";
import { convertLegacyHttpOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import { asError, hasCode } from "../../events/door.ts";
import { VERSION } from "../../version.ts";
import type { SignalName } from "../setup/exporter-choice.ts";
import { UNTRACED } from "../spans/suppressed-tracing.ts";
import { type Attempt, attemptOf, withoutHeaderName } from "./attempt.ts";

/** Sends the bytes of a request. */
export interface Post {
  /**
   * One attempt; it never rejects.
   *
   * @param withinMs the most that it may take, in ms. Default: no more than the post's own bound.
   */
  send(bytes: Uint8Array, withinMs?: number): Promise<Attempt>;
  /** Gives up all attempts, those under way and those to come. */
  abort(): void;
}

export interface OtlpPostOptions {
  /** Where requests go. Default: `OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT`, else port 4318 here. */
  readonly url?: string | undefined;
  /** Win over `OTEL_EXPORTER_OTLP_[TRACES_]HEADERS` name by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The most that an attempt may take, in ms, beside `OTEL_EXPORTER_OTLP_[TRACES_]TIMEOUT` (default
   * 10,000). Default: no further bound.
   */
  readonly timeoutMs?: number | undefined;
  /** The same, in place of the variable. */
  readonly ownTimeoutMs?: number | undefined;
  /** Default `TRACES`; of another signal, the variables have that name. */
  readonly signal?: SignalName | undefined;
  /** Default `application/x-protobuf`. */
  readonly contentType?: string | undefined;
}

/** The quickest: zlib's default takes three times the CPU for a sixth fewer bytes. */
const GZIP_LEVEL = 1;

/** So much of a response is read; the rest could only be text. */
const RESPONSE_BYTES = 64 * 1024;

const compress = promisify(gzip);

type Configuration = ReturnType<typeof convertLegacyHttpOptions>;

/**
 * Posts OTLP requests. URL, headers, certificates, compression and timeout are read by
 * OpenTelemetry's own exporter code. The attempt itself is made here: its transport keeps retries to
 * itself, each on its own timer, which no shutdown ends, and hides the status.
 */
export class OtlpPost implements Post {
  readonly #config: Configuration;
  /** The most that an attempt takes, in ms. */
  readonly timeoutMs: number;
  readonly #underWay = new Set<ClientRequest>();
  #connection: ReturnType<typeof connect> | undefined;
  #aborted = false;

  constructor(options: OtlpPostOptions) {
    const { headers, ownTimeoutMs, signal = "TRACES", url } = options;
    const given = {
      ...(url === undefined ? {} : { url }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
      ...(ownTimeoutMs === undefined ? {} : { timeoutMillis: ownTimeoutMs }),
    };
    this.#config = convertLegacyHttpOptions(given, signal, `v1/${signal.toLowerCase()}`, {
      "Content-Type": options.contentType ?? "application/x-protobuf",
    });
    this.timeoutMs = Math.min(
      this.#config.timeoutMillis,
      options.timeoutMs ?? Number.POSITIVE_INFINITY,
    );
  }

  async send(bytes: Uint8Array, withinMs = this.timeoutMs): Promise<Attempt> {
    try {
      return await context.with(UNTRACED, () => this.#send(bytes, withinMs));
    } catch (thrown) {
      const error = withoutHeaderName(asError(thrown));
      return { kind: "failed", error };
    }
  }

  abort(): void {
    this.#aborted = true;
    for (const request of this.#underWay) request.destroy(new Error("given up"));
  }

  async #send(bytes: Uint8Array, withinMs: number): Promise<Attempt> {
    this.#connection ??= connect(this.#config);
    const { agent, request } = await this.#connection;
    const zipped = this.#config.compression === "gzip";
    const body = zipped ? await compress(bytes, { level: GZIP_LEVEL }) : bytes;
    const headers = {
      ...(await this.#config.headers()),
      "User-Agent": `OTel-OTLP-Exporter-JavaScript/entelix-otel-${VERSION}`,
      "Content-Length": body.length,
      ...(zipped ? { "Content-Encoding": "gzip" } : {}),
    };
    const options = { method: "POST", headers, agent };
    for (;;) {
      const answer = await this.#attempt(request, options, body, withinMs);
      if (answer !== STALE) return answer;
    }
  }

  #attempt(
    request: Requesting,
    options: RequestOptions,
    body: Uint8Array,
    withinMs: number,
  ): Promise<Attempt | typeof STALE> {
    if (this.#aborted) throw new Error("given up");
    return new Promise((resolve, reject) => {
      const made = request(this.#config.url, options);
      this.#underWay.add(made);
      const late = () => made.destroy(new Error("the request timed out"));
      const timer = setTimeout(late, Math.min(this.timeoutMs, withinMs)).unref();
      let answered = false;
      made.on("close", () => {
        clearTimeout(timer);
        this.#underWay.delete(made);
        // Node reports an unrequested upgrade, say, in no other way.
        if (!answered) reject(new Error("the connection was closed without an answer"));
      });
      made.on("error", (error) => {
        if (made.reusedSocket && hasCode(error, "ECONNRESET", "EPIPE")) resolve(STALE);
        else reject(error);
      });
      made.on("response", (response) => {
        answered = true;
        readAnswer(response).then(resolve, reject);
      });
      made.end(body);
    });
  }
}

type Requesting = typeof request;

/**
 * A connection that was kept had gone meanwhile, as those behind a load balancer do: the next one is
 * taken at once. All that were kept may have gone; a wait after each would use up a shutdown.
 */
const STALE = "stale";

/** Loads the module when it is needed, so that an instrumentation can patch it before. */
async function connect(config: Configuration) {
  const { protocol } = new URL(config.url);
  const http: { Agent: typeof Agent; request: Requesting } =
    protocol === "https:" ? await import("node:https") : await import("node:http");
  if (typeof config.agentFactory === "function") {
    return { agent: await config.agentFactory(protocol), request: http.request };
  }
  // Older exporter packages (0.200, say) give the agent's options in place of a factory.
  const options: unknown = Reflect.get(config, "agentOptions");
  const given = typeof options === "object" ? options : {};
  return { agent: new http.Agent({ keepAlive: true, ...given }), request: http.request };
}

async function readAnswer(response: IncomingMessage): Promise<Attempt> {
  const { statusCode: status = 0, statusMessage: message = "" } = response;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response) {
      if (!Buffer.isBuffer(part) || size + part.length > RESPONSE_BYTES) break;
      size += part.length;
      parts.push(part);
    }
  } catch {
    // The status came: that it was taken, or not, holds without the rest.
  }
  return attemptOf(status, message, Buffer.concat(parts), response.headers["retry-after"]);
}
