import type { ClientRequest, IncomingMessage, RequestOptions, request } from "node:http";
import { promisify } from "node:util";
import { gzip, unzipSync } from "node:zlib";
import { context, diag } from "@opentelemetry/api";
import { convertLegacyHttpOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import { asError, hasCode } from "../../events/door.ts";
import { VERSION } from "../../version.ts";
import type { SignalName } from "../setup/exporter-choice.ts";
import { shownUrl } from "../setup/shown-url.ts";
import { UNTRACED } from "../spans/suppressed-tracing.ts";
import { type AdvisedRequest, advise } from "./advice.ts";
import { type Attempt, attemptOf, describeFailure, withoutHeaderName } from "./attempt.ts";
import { type Connections, connectionsTo } from "./connections.ts";
import { withGrpcHint } from "./other-protocol.ts";
import { withoutCredentials } from "./secrets.ts";
import { TlsFiles, type TlsOptions } from "./tls-files.ts";

/** Sends the bytes of a request. */
export interface Post {
  /**
   * Makes one attempt. Never rejects.
   *
   * @param withinMs time limit in ms. Default: only the limit of the post.
   */
  send(bytes: Uint8Array, withinMs?: number): Promise<Attempt>;
  /** Ends all current attempts, and lets later ones fail. */
  abort(): void;
}

export interface OtlpPostOptions {
  /** Default: `OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT`, else port 4318 of this machine. */
  readonly url?: string | undefined;
  /** Each overrides the same name in `OTEL_EXPORTER_OTLP_[TRACES_]HEADERS`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Time limit of an attempt in ms, in addition to `OTEL_EXPORTER_OTLP_[TRACES_]TIMEOUT` (default 10,000).
   * Default: none.
   */
  readonly timeoutMs?: number | undefined;
  /** Time limit of an attempt in ms, instead of the variable. */
  readonly ownTimeoutMs?: number | undefined;
  /** The signal in the names of the variables. Default `TRACES`. */
  readonly signal?: SignalName | undefined;
  /** Default `application/x-protobuf`. */
  readonly contentType?: string | undefined;
}

/** The fastest level. zlib's default takes three times the CPU for a sixth fewer bytes. */
const GZIP_LEVEL = 1;

/** Limit of a response in bytes. The rest can only be text, and is not read. */
const RESPONSE_BYTES = 64 * 1024;

const compress = promisify(gzip);

type Configuration = ReturnType<typeof convertLegacyHttpOptions>;

/**
 * Posts OTLP requests. OpenTelemetry's exporter code reads URL, headers, compression and timeout. Its transport is
 * not used: it hides the status, reads certificates once, knows no proxy, and retries on timers that a shutdown does
 * not end.
 *
 * What the receiver says about a request goes to OpenTelemetry's diagnostic logger, at the level `debug`.
 */
export class OtlpPost implements Post {
  readonly #config: Configuration;
  /** The request, for the advice on its failures. */
  #advised: AdvisedRequest;
  /** Time limit of an attempt in ms. */
  readonly timeoutMs: number;
  readonly #tls: TlsFiles;
  readonly #underWay = new Set<ClientRequest>();
  /** Made again for other certificates, which a proxy's agent keeps. */
  #connections: Promise<Connections> | undefined;
  #connectedWith: TlsOptions | undefined;
  #aborted = false;

  constructor(options: OtlpPostOptions) {
    const { headers, ownTimeoutMs, signal = "TRACES", url } = options;
    const contentType = options.contentType ?? "application/x-protobuf";
    const given = {
      ...(url === undefined ? {} : { url }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
      ...(ownTimeoutMs === undefined ? {} : { timeoutMillis: ownTimeoutMs }),
    };
    this.#config = convertLegacyHttpOptions(given, signal, `v1/${signal.toLowerCase()}`, {
      "Content-Type": contentType,
    });
    const isJson = contentType === "application/json";
    this.#advised = { url: this.#config.url, signal, isJson, proxy: undefined };
    this.#tls = new TlsFiles(signal);
    this.timeoutMs = Math.min(
      this.#config.timeoutMillis,
      options.timeoutMs ?? Number.POSITIVE_INFINITY,
    );
  }

  async send(bytes: Uint8Array, withinMs = this.timeoutMs): Promise<Attempt> {
    const attempt = await context.with(UNTRACED, () => this.#send(bytes, withinMs));
    if (attempt.kind === "failed") {
      advise(attempt, this.#advised);
      this.#debug(describeFailure(attempt));
    } else if (attempt.detail !== undefined) {
      this.#debug(`taken, ${attempt.refused} refused: ${attempt.detail}`);
    }
    return attempt;
  }

  abort(): void {
    this.#aborted = true;
    for (const request of this.#underWay) request.destroy(new Error("given up"));
  }

  async #send(bytes: Uint8Array, withinMs: number): Promise<Attempt> {
    const { compression, headers: ownHeaders, url } = this.#config;
    try {
      const tls = await this.#tls.current();
      if (this.#connections === undefined || tls !== this.#connectedWith) {
        this.#connections = connectionsTo(url, tls);
        this.#connectedWith = tls;
      }
      const { agent, options: more, proxy, request } = await this.#connections;
      this.#advised = { ...this.#advised, proxy };
      const zipped = compression === "gzip";
      const body = zipped ? await compress(bytes, { level: GZIP_LEVEL }) : bytes;
      const headers = await ownHeaders();
      const options = {
        ...more,
        // Connections with other certificates are not reused.
        ...tls,
        method: "POST",
        headers: {
          ...headers,
          "User-Agent": `OTel-OTLP-Exporter-JavaScript/entelix-otel-${VERSION}`,
          "Content-Length": body.length,
          ...(zipped ? { "Content-Encoding": "gzip" } : {}),
        },
        agent,
      };
      for (;;) {
        const attempt = await this.#attempt(request, options, body, withinMs);
        if (attempt === STALE) continue;
        const { detail } = attempt;
        if (detail === undefined) return attempt;
        return { ...attempt, detail: oneLine(withoutCredentials(detail, url, headers)) };
      }
    } catch (thrown) {
      return { kind: "failed", error: withGrpcHint(withoutHeaderName(asError(thrown)), url) };
    }
  }

  #debug(text: string): void {
    diag.debug(`entelix-otel: ${shownUrl(this.#config.url)}: ${text}`);
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
      const ms = Math.min(this.timeoutMs, withinMs);
      const late = () =>
        made.destroy(new Error(`the request timed out after ${Math.round(ms)} ms`));
      const timer = setTimeout(late, ms).unref();
      let answered = false;
      made.on("close", () => {
        clearTimeout(timer);
        this.#underWay.delete(made);
        // The only report of some errors in Node, such as an unrequested upgrade.
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
 * Whether a kept-alive connection was closed meanwhile, for example by a load balancer. The next one is tried at
 * once. All of them can be closed, and a wait after each would use up the time of a shutdown.
 */
const STALE = "stale";

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
    // The status and the type are known, which is enough for a success. Text of a refusal can be cut.
    if (status < 300) parts.length = 0;
  }
  const { location, "content-type": type, "retry-after": retryAfter } = response.headers;
  return attemptOf({
    status,
    message: location === undefined ? message : `${message} to ${shownUrl(location)}`,
    body: unpacked(Buffer.concat(parts), response.headers["content-encoding"]),
    type: type?.split(";", 1)[0]?.trim().toLowerCase() || undefined,
    retryAfter,
  });
}

/** Some receivers compress their answers without being asked. One that cannot be unpacked is used as it is. */
function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding !== "gzip" && encoding !== "deflate") return body;
  try {
    return unzipSync(body, { maxOutputLength: RESPONSE_BYTES });
  } catch {
    return body;
  }
}

/** Limit of a receiver's text in messages, in UTF-16 units. */
const MOST_TEXT = 500;

/** A text of the receiver for a message: on one line, and without what a terminal would act on. */
function oneLine(text: string): string {
  return text
    .slice(0, MOST_TEXT)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
}
