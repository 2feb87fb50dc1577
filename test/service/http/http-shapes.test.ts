import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Door } from "./support/door.ts";
import { answerHeaders, answerSchema, mismatches } from "./support/json-schema.ts";
import { event, events } from "./support/lines.ts";
import { RawConnection } from "./support/raw-connection.ts";

const POST = "POST /v1/events HTTP/1.1";
const HOST = "host: localhost";
const NDJSON = "content-type: application/x-ndjson";
const BODY = `${event({ event_id: "x" })}\n`;
const GET = "GET /healthz HTTP/1.1";

function chunk(text: string | Buffer): string {
  return `${text.length.toString(16)}\r\n${text.toString("latin1")}\r\n`;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The answers in a text, each with a body of JSON that is as long as it says. */
function answersOf(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ""; ) {
    const [head = "", ...others] = rest.split("\r\n\r\n");
    const [first = "", ...lines] = head.split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const behind = others.join("\r\n\r\n");
    const length = Number(headers["content-length"]);
    expect(length).toBeGreaterThan(0);
    const body: unknown = JSON.parse(behind.slice(0, length));
    answers.push({ status: Number(/^HTTP\/1\.1 (\d{3}) \w/.exec(first)?.[1]), headers, body });
    rest = behind.slice(length);
  }
  return answers;
}

/** Says it and no more, and waits until the other side has closed the connection, too. */
async function ask(door: Door, ...lines: readonly string[]): Promise<readonly RawAnswer[]> {
  using raw = new RawConnection(door.port).send(...lines);
  raw.socket.end();
  return answersOf(await raw.end());
}

/** Each has one answer, by the document, and the connection is closed behind it. */
const REFUSED: Readonly<Record<string, readonly [number, string, ...string[]]>> = {
  "no Host": [400, "bad_request", GET, "", ""],
  "two Hosts": [400, "bad_request", GET, HOST, "host: evil.example", "", ""],
  "no HTTP": [400, "bad_request", "nonsense", "", ""],
  "another method than there is": [400, "bad_request", "FOO / HTTP/1.1", HOST, "", ""],
  "HTTP/0.9": [400, "bad_request", "GET /healthz", "", ""],
  "HTTP/2's first words": [400, "bad_request", "PRI * HTTP/2.0", "", "SM", "", ""],
  "a head that is too long": [431, "head_size", GET, HOST, `x: ${"x".repeat(20_000)}`, "", ""],
  CONNECT: [501, "not_implemented", "CONNECT a.example:443 HTTP/1.1", "host: a.example", "", ""],
  "CONNECT with a path": [501, "not_implemented", "CONNECT /v1/events HTTP/1.1", HOST, "", "", "x"],
  "an Expect": [
    417,
    "expectation",
    POST,
    HOST,
    NDJSON,
    "expect: more",
    "content-length: 9",
    "",
    "",
  ],
  "two Expects": [
    ...([417, "expectation", POST, HOST, NDJSON] as const),
    ...["expect: 100-continue, more", "content-length: 9", "", ""],
  ],
  "an Expect with its body": [
    ...([417, "expectation", POST, HOST, NDJSON, "connection: close"] as const),
    ...["expect: more", `content-length: ${BODY.length}`, "", BODY],
  ],
  "two lengths": [
    ...([400, "bad_request", POST, HOST, NDJSON, "content-length: 5"] as const),
    ...["content-length: 6", "", BODY],
  ],
  "a length beside a coding": [
    ...([400, "bad_request", POST, HOST, NDJSON, "content-length: 5"] as const),
    ...["transfer-encoding: chunked", "", `${chunk(BODY)}0`, "", ""],
  ],
  "a coding beside a length": [
    ...([400, "bad_request", POST, HOST, NDJSON, "transfer-encoding: chunked"] as const),
    ...["content-length: 5", "", `${chunk(BODY)}0`, "", ""],
  ],
  "a coding in HTTP/1.0": [
    ...([400, "bad_request", "POST /v1/events HTTP/1.0", HOST, NDJSON] as const),
    ...["transfer-encoding: chunked", "", `${chunk(BODY)}0`, "", ""],
  ],
};

const CODINGS: Readonly<Record<string, number>> = {
  "gzip, chunked": 501,
  "deflate,chunked": 501,
  "x, chunked": 501,
  "identity, chunked": 501,
  gzip: 501,
  identity: 501,
  x: 501,
  "chunked;q=1": 501,
  "chunked, chunked": 400,
  "chunked, identity": 400,
  "chunked, gzip": 400,
};

describe("what is no request, or none for this service", () => {
  it.each(Object.entries(REFUSED))("%s", async (_, [status, code, ...lines]) => {
    await using door = await Door.open();
    const answers = await ask(door, ...lines);
    expect(answers.length).toBe(1);
    for (const { headers, body } of answers) {
      expect(answers).toMatchObject([{ status, body: { error: { code } } }]);
      expect(headers).toMatchObject({ "content-type": "application/json", connection: "close" });
      const schema = answerSchema("/v1/events", "post", status, "application/json");
      expect(mismatches(schema, body)).toEqual([]);
      const needed = answerHeaders("/v1/events", "post", status);
      expect(Object.keys(headers)).toEqual(expect.arrayContaining([...needed]));
    }
    expect(door.figures.refusals.get("bad_request") ?? 0).toBe(code === "bad_request" ? 1 : 0);
    expect(door.texts).toEqual([]);
    expect(door.errors).toEqual([]);
  });

  it.each(Object.entries(CODINGS))(
    "Transfer-Encoding: %s, and what is smuggled behind it",
    async (coding, status) => {
      await using door = await Door.open();
      const smuggled = [POST, HOST, NDJSON, `content-length: ${BODY.length}`, "", BODY];
      const head = [POST, HOST, NDJSON, `transfer-encoding: ${coding}`, "", ""].join("\r\n");
      const bodies = [chunk(BODY), chunk(gzipSync(BODY)), ""].map((body) => `${body}0\r\n\r\n`);
      for (const body of [...bodies, ""]) {
        using raw = new RawConnection(door.port);
        raw.socket.end(Buffer.from(head + body + smuggled.join("\r\n"), "latin1"));
        const answers = answersOf(await raw.end());
        expect(answers).toMatchObject([{ status, headers: { connection: "close" } }]);
      }
      expect(door.texts).toEqual([]);
    },
  );

  it("codings of two headers are one list", async () => {
    await using door = await Door.open();
    const codings = ["transfer-encoding: gzip", "transfer-encoding: chunked"];
    const answers = await ask(door, POST, HOST, NDJSON, ...codings, "", `${chunk(BODY)}0`, "", "");
    expect(answers).toMatchObject([{ status: 501 }]);
    expect(door.texts).toEqual([]);
  });

  it("chunked is taken, in any case", async () => {
    await using door = await Door.open();
    for (const coding of ["chunked", "Chunked", " chunked "]) {
      const head = [POST, HOST, NDJSON, `transfer-encoding: ${coding}`, "connection: close"];
      const answers = await ask(door, ...head, "", `${chunk(BODY)}0`, "", "");
      expect(answers).toMatchObject([{ status: 200, body: { lines: 1 } }]);
    }
    expect(door.texts.length).toBe(1);
  });

  it("no header is overlooked behind many others", async () => {
    await using door = await Door.open();
    const many = Array<string>(2_500).fill("a:b");
    const close = "connection: close";
    expect(await ask(door, GET, ...many, HOST, close, "", "")).toMatchObject([{ status: 200 }]);
    const coding = "transfer-encoding: gzip, chunked";
    const answers = await ask(
      door,
      POST,
      HOST,
      NDJSON,
      ...many,
      coding,
      "",
      `${chunk(BODY)}0`,
      "",
      "",
    );
    expect(answers).toMatchObject([{ status: 501 }]);
  });

  it("a request for another protocol is answered in this one", async () => {
    await using door = await Door.open();
    for (const protocol of ["websocket", "h2c"]) {
      const answers = await ask(
        door,
        ...[GET, HOST, "connection: Upgrade, close", `upgrade: ${protocol}`, "", ""],
      );
      expect(answers).toMatchObject([{ status: 200, body: { status: "ok" } }]);
    }
  });

  it.each(["OPTIONS", "TRACE", "DELETE", "PROPFIND"])("%s has an answer", async (method) => {
    await using door = await Door.open();
    const close = "connection: close";
    const answers = await ask(door, `${method} /v1/events HTTP/1.1`, HOST, close, "", "");
    expect(answers).toMatchObject([{ status: 405, headers: { allow: "POST" } }]);
    const star = await ask(door, `${method} * HTTP/1.1`, HOST, close, "", "");
    expect(star.map(({ status }) => status)).toEqual([
      method === "OPTIONS" ? 404 : star[0]?.status,
    ]);
  });
});

describe("a connection on which no further request can be read", () => {
  const request = [POST, HOST, NDJSON, `content-length: ${BODY.length}`, "", BODY].join("\r\n");

  it.each([
    ["nonsense", "nonsense\r\n\r\n", 400],
    ["CONNECT", "CONNECT a.example:1 HTTP/1.1\r\nhost: a.example\r\n\r\n", 501],
    ["half a head", `GET / HTTP/1.1\r\nx: ${"x".repeat(20_000)}`, 431],
  ])("first answers what came before: %s", async (_, bad, status) => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    using raw = new RawConnection(door.port).send(request + bad);
    while (door.journal.appends === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(raw.text).toBe("");
    write();
    expect(answersOf(await raw.end())).toMatchObject([
      { status: 200, body: { accepted: 1 } },
      { status, headers: { connection: "close" } },
    ]);
    expect(door.texts.length).toBe(1);
  });

  it.each([
    ["a chunk without a length", `${chunk(events(3))}zz\r\n`],
    ["a chunk that is longer than it says", `${chunk(events(3))}5\r\nabcdefgh\r\n0\r\n\r\n`],
  ])("tells what was taken of a body that goes wrong: %s", async (_, body) => {
    await using door = await Door.open();
    const head = [POST, HOST, NDJSON, "transfer-encoding: chunked", "", ""].join("\r\n");
    using raw = new RawConnection(door.port).send(head + body);
    raw.socket.end();
    expect(answersOf(await raw.end())).toMatchObject([
      {
        status: 400,
        headers: { connection: "close" },
        body: { lines: 3, accepted: 3, error: { code: "bad_request" } },
      },
    ]);
    expect(door.texts.length).toBe(3);
    expect(door.figures.refusals.get("bad_request")).toBe(1);
  });

  it.each([
    ["its length", `content-length: ${events(3).length + 50}`, events(3), ""],
    ["its last chunk", "transfer-encoding: chunked", chunk(events(3)), ""],
    ["the end of a line", `content-length: ${events(3).length}`, events(3).slice(0, -5), ""],
  ])("tells what was taken of a body that ends before %s", async (_, framing, body) => {
    await using door = await Door.open();
    using raw = new RawConnection(door.port).send(POST, HOST, NDJSON, framing, "", body);
    raw.socket.end();
    const [answer, ...others] = answersOf(await raw.end());
    expect(others).toEqual([]);
    const whole = body.endsWith("\n") || body.endsWith("\r\n") ? 3 : 2;
    expect(answer).toMatchObject({
      status: 400,
      body: { lines: whole, accepted: whole, rejected: 0, error: { code: "bad_request" } },
    });
    expect(door.texts.length).toBe(whole);
    expect(door.figures.senderGone).toBe(1);
  });

  it("takes nothing of a gzip body that goes wrong or ends early", async () => {
    await using door = await Door.open();
    const gzip = gzipSync(events(3));
    const head = [POST, HOST, NDJSON, "content-encoding: gzip"];
    for (const [framing, behind] of [
      ["transfer-encoding: chunked", "zz\r\n"],
      ["transfer-encoding: chunked", ""],
      [`content-length: ${gzip.length + 1}`, undefined],
    ] as const) {
      using raw = new RawConnection(door.port).send(...head, framing, "", "");
      const body = behind === undefined ? gzip.toString("latin1") : chunk(gzip) + behind;
      raw.socket.end(Buffer.from(body, "latin1"));
      expect(answersOf(await raw.end())).toMatchObject([
        { status: 400, body: { lines: 0, error: { code: "bad_request" } } },
      ]);
    }
    expect(door.texts).toEqual([]);
    expect(door.server.heldBytes).toBe(0);
  });

  it("gives one answer to a request that asks for the last, whatever comes behind it", async () => {
    await using door = await Door.open();
    const last = [GET, HOST, "connection: close", "", ""].join("\r\n");
    expect(await ask(door, last + request)).toMatchObject([{ status: 200 }]);
    const refused = [POST, HOST, NDJSON, "content-length: 999999999", "", ""].join("\r\n");
    expect(await ask(door, refused + request)).toMatchObject([{ status: 413 }]);
    expect(door.texts).toEqual([]);
  });
});
