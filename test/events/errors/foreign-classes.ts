// What errors of other libraries are expected to be taken for.
export const dispatch = { failure: "model_dispatch" } as const;
export const network = { ...dispatch, tool: "transient", code: "transport_failure" } as const;
export const dns = { ...network, code: "dns_failure" } as const;
export const tls = { ...network, code: "tls_failure" } as const;
export const limited = { ...dispatch, tool: "rate_limit", code: "rate_limited" } as const;
export const quota = { ...limited, tool: "quota" } as const;
export const cancelled = { failure: "cancelled", tool: "internal", code: "cancelled" } as const;
export const deadline = {
  failure: "deadline_exceeded",
  tool: "internal",
  code: "deadline_exceeded",
} as const;
export const serde = { failure: "internal", tool: "validation", code: "serde" } as const;
export const unusable = { ...dispatch, tool: "internal", code: "model_retry_exhausted" } as const;
export const invalid = {
  failure: "internal",
  tool: "validation",
  code: "invalid_request",
} as const;
export const unavailable = {
  ...dispatch,
  tool: "transient",
  code: "upstream_unavailable",
} as const;
export const refused = { ...dispatch, tool: "auth", code: "upstream_unauthorized" } as const;
export const wrong = { ...dispatch, tool: "permanent", code: "upstream_invalid" } as const;
