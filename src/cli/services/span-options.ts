/** Where a service sends spans: the option of `serve` and `consume`. */
export const ENDPOINT_OPTION = {
  type: "string",
  value: "URL",
  about: "Send the spans there by OTLP/HTTP; /v1/traces is appended.",
} as const;

/** Whose spans are made: the option of every command that makes them again from lines. */
export const SERVICE_NAME_OPTION = {
  type: "string",
  value: "NAME",
  about: "Service the spans belong to. Default: OTEL_SERVICE_NAME.",
} as const;
