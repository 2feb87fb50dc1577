import { gzipSync } from "node:zlib";

/** A request as it goes over the wire, and what must be answered. */
export interface Shape {
  readonly kind: string;
  readonly name: string;
  /** In latin1: byte for byte. @param line an event, without its line end. */
  readonly send: (line: string) => string;
  /** Statuses that may be answered; below 400 the request is one that is to be served. */
  readonly status: readonly number[];
  /** Nothing more comes behind it: the sender closes its side. */
  readonly half?: boolean;
}

const HOST = "Host: localhost";
const NDJSON = "Content-Type: application/x-ndjson";

function request(start: string, headers: readonly string[], body = ""): string {
  return `${[start, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

function get(target: string, ...headers: readonly string[]): string {
  return request(`GET ${target} HTTP/1.1`, headers.length === 0 ? [HOST] : headers);
}

/** A POST of the line with its length, and these headers too. */
function post(line: string, headers: readonly string[] = [], target = "/v1/events"): string {
  const body = `${line}\n`;
  const length = `Content-Length: ${body.length}`;
  return request(`POST ${target} HTTP/1.1`, [HOST, NDJSON, length, ...headers], body);
}

/** A POST that says its length in these headers, or not at all. */
function postAs(headers: readonly string[], body: string, version = "1.1"): string {
  return request(`POST /v1/events HTTP/${version}`, [HOST, NDJSON, ...headers], body);
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

const chunked = (line: string) => `${chunk(`${line}\n`)}0\r\n\r\n`;

const CHUNKED = ["Transfer-Encoding: chunked"];

type Row = readonly [name: string, send: Shape["send"], status: number | readonly number[]];

function shapes(kind: string, rows: readonly Row[], half = false): Shape[] {
  return rows.map(([name, send, status]) => ({
    kind,
    name,
    send,
    status: typeof status === "number" ? [status] : status,
    ...(half ? { half } : {}),
  }));
}

const REQUEST_LINES: readonly Row[] = [
  ["a line of text", () => "hello\r\n\r\n", 400],
  ["a TLS greeting", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  ["bytes of no meaning", () => "\x00\xff\xfe\x01\x80\r\n\r\n", 400],
  ["no method", () => request(" / HTTP/1.1", [HOST]), 400],
  ["an unknown method", () => request("FOO /v1/events HTTP/1.1", [HOST]), 400],
  ["a method in small letters", () => request("post /v1/events HTTP/1.1", [HOST]), 400],
  ["no version", () => "GET /healthz\r\n\r\n", [400, 421]],
  ["version 2.0", () => request("GET /healthz HTTP/2.0", [HOST]), [200, 400, 505]],
  ["version 9.9", () => request("GET /healthz HTTP/9.9", [HOST]), 400],
  ["the preface of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["two spaces before the target", () => get(" /healthz"), [200, 400]],
  ["a space in the target", () => get("/hea lthz"), 400],
  ["a control character in the target", () => get("/hea\x01lthz"), 400],
  ["bytes beyond ASCII in the target", () => get("/\xc3\xa9"), [400, 404]],
  ["a target of 20,000 characters", () => get(`/${"a".repeat(20_000)}`), 431],
  ["a target with two slashes", () => get("//healthz"), 404],
  ["a target with dots", () => get("/healthz/../metrics"), 404],
  ["a target with a coded zero", () => get("/healthz%00"), 404],
  ["a target that is an asterisk", () => request("OPTIONS * HTTP/1.1", [HOST]), [400, 404, 405]],
  ["a target with a host", () => get("http://localhost/healthz"), 200],
  ["CONNECT to a host", () => request("CONNECT example.test:443 HTTP/1.1", [HOST]), REFUSED()],
  ["CONNECT to a path", () => request("CONNECT /v1/events HTTP/1.1", [HOST]), REFUSED()],
  ["empty lines before it", () => `\r\n\r\n${get("/healthz")}`, 200],
];

/** Any refusal that a request may have which the service does not serve. */
function REFUSED(): readonly number[] {
  return [400, 404, 405, 501];
}

const HEADS: readonly Row[] = [
  ["no Host", () => get("/healthz", "Accept: */*"), [400, 421]],
  ["two Hosts", () => get("/healthz", HOST, "Host: example.test"), [200, 400, 421]],
  ["an empty Host", () => get("/healthz", "Host:"), [400, 421]],
  ["the Host of another machine", (line) => post(line).replace("localhost", "example.test"), 421],
  ["a header of 20,000 characters", () => get("/healthz", HOST, `X-A: ${"a".repeat(20_000)}`), 431],
  ["6,000 headers", () => get("/healthz", HOST, ...many("X-A: b", 6_000)), 431],
  ["a header without a colon", () => get("/healthz", HOST, "X-A"), 400],
  ["a header name with a space", () => get("/healthz", HOST, "X A: b"), 400],
  ["a space before the colon", () => get("/healthz", HOST, "X-A : b"), 400],
  ["a header without a name", () => get("/healthz", HOST, ": b"), 400],
  ["a zero byte in a header", () => get("/healthz", HOST, "X-A: b\x00c"), 400],
  ["a header over two lines", () => get("/healthz", HOST, "X-A: b\r\n c"), [200, 400]],
  ["an unknown expectation", (line) => post(line, ["Expect: 200-maybe"]), [200, 400, 417]],
  ["an upgrade to a web socket", () => get("/healthz", HOST, ...UPGRADE), 200],
];

const UPGRADE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];

function many(header: string, count: number): string[] {
  return Array.from({ length: count }, () => header);
}

/** What Content-Length may say that is none. */
const LENGTHS: readonly Row[] = [
  ["abc", 400],
  ["-1", 400],
  ["+5", 400],
  ["0x10", 400],
  ["1e3", 400],
  ["5, 6", 400],
  ["5 5", 400],
  ["99999999999999999999999", 400],
].map(([length, status]): Row => {
  return [
    `of ${length}`,
    (line) => postAs([`Content-Length: ${length}`], `${line}\n`),
    Number(status),
  ];
});

const TWO_LENGTHS: readonly Row[] = [
  ["two that differ", (line) => postAs(["Content-Length: 5", "Content-Length: 6"], line), 400],
  [
    "with chunks too",
    (line) => postAs([`Content-Length: ${line.length}`, ...CHUNKED], chunked(line)),
    400,
  ],
  ["beyond the longest body", () => postAs(["Content-Length: 99999999999"], "{}"), 413],
];

/** Transfer codings that are not `chunked` alone. */
const CODINGS: readonly Row[] = [
  ...["gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "xchunked"].map(
    (coding): Row => [
      coding,
      (line) => postAs([`Transfer-Encoding: ${coding}`], chunked(line)),
      [400, 501],
    ],
  ),
  [
    "two headers",
    (line) => postAs([...CHUNKED, "Transfer-Encoding: gzip"], chunked(line)),
    [400, 501],
  ],
  ["chunks in HTTP/1.0", (line) => postAs(CHUNKED, chunked(line), "1.0"), [200, 400, 501]],
];

const CHUNKS: readonly Row[] = [
  ["a size that is no number", (line) => postAs(CHUNKED, `zz\r\n${line}\r\n0\r\n\r\n`), 400],
  ["a size below zero", (line) => postAs(CHUNKED, `-1\r\n${line}\r\n0\r\n\r\n`), 400],
  ["a size of 17 digits", (line) => postAs(CHUNKED, `fffffffffffffffff\r\n${line}`), 400],
  ["no size", (line) => postAs(CHUNKED, `\r\n${line}\r\n0\r\n\r\n`), 400],
  ["more than the size says", (line) => postAs(CHUNKED, `5\r\n${line}\r\n0\r\n\r\n`), 400],
  ["an extension of 20,000 characters", (line) => postAs(CHUNKED, longExtension(line)), [400, 413]],
  ["a broken trailer", (line) => postAs(CHUNKED, `${chunk(`${line}\n`)}0\r\nX A\r\n\r\n`), 400],
];

function longExtension(line: string): string {
  return `${(line.length + 1).toString(16)};${"a".repeat(20_000)}\r\n${line}\n\r\n0\r\n\r\n`;
}

/** The sender ends its side in the middle of these. */
const CUT_OFF: readonly Row[] = [
  ["in the request line", () => "POST /v1/ev", 400],
  ["in the head", () => "POST /v1/events HTTP/1.1\r\nHost: local", 400],
  ["in a body with a length", () => postAs(["Content-Length: 500"], '{"type":'), 400],
  ["in a chunk", () => postAs(CHUNKED, `20\r\n{"type":`), 400],
  ["between two chunks", () => postAs(CHUNKED, chunk('{"type":')), 400],
];

const METHODS: readonly Row[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH"].map(
    (method): Row => [
      `${method} /v1/events`,
      () => request(`${method} /v1/events HTTP/1.1`, [HOST]),
      405,
    ],
  ),
  ["POST /healthz", (line) => post(line, [], "/healthz"), 405],
  ["POST /", (line) => post(line, [], "/"), 404],
];

const BODIES: readonly Row[] = [
  ["no Content-Type", (line) => post(line).replace(`${NDJSON}\r\n`, ""), 415],
  ["text/plain", (line) => post(line).replace("application/x-ndjson", "text/plain"), 415],
  ["another charset", (line) => post(line).replace("ndjson", "ndjson; charset=latin1"), 415],
  ["Content-Encoding: br", (line) => post(line, ["Content-Encoding: br"]), 400],
  ["Content-Encoding: gzip, gzip", (line) => post(line, ["Content-Encoding: gzip, gzip"]), 400],
  ["plain text said to be gzip", (line) => post(line, ["Content-Encoding: gzip"]), 400],
  ["an unknown dialect", (line) => post(line, [], "/v1/events?dialect=none"), 400],
  ["two dialects", (line) => post(line, [], "/v1/events?dialect=auto&dialect=graph"), 400],
  ["60,000 empty lines", () => post("\n".repeat(60_000)), 413],
  ["70 MiB out of 70 KiB of gzip", () => bomb(), 413],
  ["nothing", () => postAs(["Content-Length: 0"], ""), 200],
];

function bomb(): string {
  const bytes = gzipSync(Buffer.alloc(70 * 1024 * 1024, 0x20));
  const length = `Content-Length: ${bytes.length}`;
  return postAs([length, "Content-Encoding: gzip"], bytes.toString("latin1"));
}

/** Every shape. That of the body is the last of its request, so none can hide another. */
export const SHAPES: readonly Shape[] = [
  ...shapes("request line", REQUEST_LINES),
  ...shapes("head", HEADS),
  ...shapes("Content-Length", [...LENGTHS, ...TWO_LENGTHS]),
  ...shapes("transfer coding", CODINGS),
  ...shapes("chunks", CHUNKS),
  ...shapes("cut off", CUT_OFF, true),
  ...shapes("method", METHODS),
  ...shapes("body", BODIES),
];
