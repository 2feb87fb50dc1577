import { checkArgument } from "../option-checks.ts";
import type { InterruptionKind, UsageLimitBreach } from "./agent-error-detail.ts";
import { type AgentErrorDetail, detailText } from "./agent-error-detail.ts";
import { envelopeOfDetail } from "./agent-error-tables.ts";
import type { ErrorEnvelope, ToolErrorKind } from "./error-kinds.ts";
import type { RenderedForLlm } from "./llm-text.ts";
import { renderDetail } from "./llm-text.ts";
import { property } from "./thrown.ts";

const BRAND: unique symbol = Symbol.for("entelix-otel.agent-error");

/** Options of the provider errors. */
export interface ProviderErrorOptions extends ErrorOptions {
  /** Milliseconds the provider asked to wait. Default none; ignored unless finite and 0 or more. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * An error of an agent run with a known failure kind, tool error kind, envelope and text for the model.
 *
 * Create one with the static functions. They never throw. `detail` holds the kind and its fields,
 * `message` is the operator's text, and `cause` is the original error. Use {@link isAgentError} to
 * recognise one: `instanceof` fails if the process loaded both the ESM and the CommonJS copy of
 * this package. In Rust: `Error` of entelix-core.
 *
 * @example
 * throw AgentError.http(429, "slow down", { retryAfterMs: 30_000, cause: error });
 */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly detail: AgentErrorDetail;

  private constructor(detail: AgentErrorDetail, options?: ErrorOptions) {
    checkArgument(detail, "detail");
    super(detailText(detail), options);
    this.detail = detail;
  }

  get [BRAND](): true {
    return true;
  }

  /**
   * A provider answered with an HTTP error.
   *
   * @param status 400 to 599. Any other status becomes a network failure, because there was no final answer.
   */
  static http(status: number, message: string, options?: ProviderErrorOptions): AgentError {
    if (!isHttpFailure(status)) return AgentError.network(message, options);
    return new AgentError(
      { type: "provider", kind: "http", status, message, ...retryAfter(options) },
      options,
    );
  }

  /** A provider was not reached, or closed the connection before its answer. */
  static network(message: string, options?: ProviderErrorOptions): AgentError {
    return AgentError.#transport("network", message, options);
  }

  /** The TLS handshake or the certificate check with a provider failed. */
  static tls(message: string, options?: ProviderErrorOptions): AgentError {
    return AgentError.#transport("tls", message, options);
  }

  /** The name of a provider was not resolved. */
  static dns(message: string, options?: ProviderErrorOptions): AgentError {
    return AgentError.#transport("dns", message, options);
  }

  static #transport(
    kind: "network" | "tls" | "dns",
    message: string,
    options: ProviderErrorOptions | undefined,
  ): AgentError {
    return new AgentError({ type: "provider", kind, message, ...retryAfter(options) }, options);
  }

  /** @param source where the credential was searched, such as `env:API_KEY`. Default none. */
  static authMissing(source?: string, options?: ErrorOptions): AgentError {
    const detail = { type: "auth", kind: "missing" } as const;
    return new AgentError(source === undefined ? detail : { ...detail, source }, options);
  }

  /** The credential exists but was not accepted. */
  static authRefused(message: string, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "auth", kind: "refused", message }, options);
  }

  /** The credential has expired. */
  static authExpired(message?: string, options?: ErrorOptions): AgentError {
    const detail = { type: "auth", kind: "expired" } as const;
    return new AgentError(message === undefined ? detail : { ...detail, message }, options);
  }

  /** The vault or token endpoint that holds the credential was not reached. */
  static authSourceUnreachable(message: string, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "auth", kind: "source_unreachable", message }, options);
  }

  /**
   * The model should answer again.
   *
   * @param hint what it should do better: **shown to the model word for word**.
   * @param attempt number of this retry, from 1.
   */
  static modelRetry(hint: string, attempt: number, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "model_retry", hint, attempt }, options);
  }

  /** The input is invalid. The model sees `message`, so it must not contain a value or a secret. */
  static invalidRequest(message: string, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "invalid_request", message }, options);
  }

  /** The configuration is invalid. Only an operator can fix it. */
  static config(message: string, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "config", message }, options);
  }

  /** JSON could not be read or written. */
  static serde(message: string, options?: ErrorOptions): AgentError {
    return new AgentError({ type: "serde", message }, options);
  }

  /** The work was cancelled. */
  static cancelled(options?: ErrorOptions): AgentError {
    return new AgentError({ type: "cancelled" }, options);
  }

  /** The work exceeded its deadline. */
  static deadlineExceeded(options?: ErrorOptions): AgentError {
    return new AgentError({ type: "deadline_exceeded" }, options);
  }

  /** The run pauses for a human: not a failure. `payload` is content. Default `null`. */
  static interrupted(
    kind: InterruptionKind,
    payload: unknown = null,
    options?: ErrorOptions,
  ): AgentError {
    return new AgentError({ type: "interrupted", kind, payload }, options);
  }

  /** A run's budget is used up. */
  static usageLimitExceeded(breach: UsageLimitBreach, options?: ErrorOptions): AgentError {
    checkArgument(breach, "breach");
    return new AgentError({ type: "usage_limit_exceeded", breach }, options);
  }

  /** A tool error that ends the run. `source` is the tool's error, which becomes the `cause`. */
  static toolErrorTerminal(kind: ToolErrorKind, toolName: string, source: AgentError): AgentError {
    checkArgument(source, "source");
    return new AgentError(
      { type: "tool_error_terminal", kind, toolName, source },
      { cause: source },
    );
  }

  /** The machine-readable side of this error. A terminal tool error has its source's envelope. */
  envelope(): ErrorEnvelope {
    return envelopeOfDetail(this.detail);
  }

  /** The text of this error for the model. A terminal tool error has its source's text. */
  forLlm(): RenderedForLlm {
    return renderDetail(this.detail);
  }
}

/** Whether a value is an {@link AgentError} of any loaded copy of this package. Never throws. */
export function isAgentError(value: unknown): value is AgentError {
  return (
    property(value, BRAND) === true &&
    typeof property(property(value, "detail"), "type") === "string"
  );
}

/** Whether an HTTP status is a final answer that reports a failure. */
export function isHttpFailure(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

function retryAfter(options: ProviderErrorOptions | undefined): { retryAfterMs?: number } {
  const ms = options?.retryAfterMs;
  return ms !== undefined && Number.isFinite(ms) && ms >= 0 ? { retryAfterMs: ms } : {};
}
