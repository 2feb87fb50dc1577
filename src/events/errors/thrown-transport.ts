/** The stage at which a connection failed, as in the transport kinds of a provider error. */
export type TransportKind = "network" | "tls" | "dns";

const TLS =
  /^(?:CERT_|CRL_|ERR_TLS_|ERR_SSL_|UNABLE_TO_(?:DECODE|DECRYPT|GET|VERIFY)_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|EPROTO$|UND_ERR_PRX_TLS$)/;

/** The second half are codes of c-ares, Node's own resolver. */
const DNS =
  /^(?:ENOTFOUND$|EAI_|ENODATA$|ENONAME$|ESERVFAIL$|EREFUSED$|EBADRESP$|EBADNAME$|ETIMEOUT$)/;

/** Undici's codes are listed one by one, because some others mean that the caller made a mistake. */
const NETWORK = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EPIPE",
  "ESOCKETTIMEDOUT",
  "ETIMEDOUT",
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_NETWORK",
  "ERR_SOCKET_CLOSED",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "ERR_STREAM_PREMATURE_CLOSE",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CLOSED",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_DESTROYED",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
]);

const HTTP_PARSER = "HPE_";

/** The transport kind of a code of Node, undici or an HTTP client. `undefined` if it is not about a connection. */
export function transportKind(code: string): TransportKind | undefined {
  if (NETWORK.has(code) || code.startsWith(HTTP_PARSER)) return "network";
  if (DNS.test(code)) return "dns";
  return TLS.test(code) ? "tls" : undefined;
}
