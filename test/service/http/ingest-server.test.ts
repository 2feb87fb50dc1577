import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/service/http/refusal.ts";
import { codeOf, conforming } from "./support/conforming.ts";
import { Door, tokenSet } from "./support/door.ts";
import { event, events } from "./support/lines.ts";
import { RawConnection } from "./support/raw-connection.ts";

const POST = "POST /v1/events HTTP/1.1";
const NDJSON = "content-type: application/x-ndjson";

describe("the HTTP door", () => {
  it("says how it is", async () => {
    await using door = await Door.open();
    for (const [path, body] of [
      ["/healthz", { status: "ok" }],
      ["/readyz", { status: "ready" }],
    ] as const) {
      const response = await fetch(door.url + path);
      expect(await conforming(response, path, "get")).toEqual(body);
      const head = await fetch(door.url + path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(head.headers.get("content-length")).toBe(response.headers.get("content-length"));
    }
    door.refusal = new Refusal("backlog", "full");
    const full = await fetch(`${door.url}/readyz`);
    expect([full.status, full.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(codeOf(await conforming(full, "/readyz", "get"))).toBe("backlog");
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
    const post = await door.post(event());
    expect([post.status, codeOf(await conforming(post))]).toEqual([503, "backlog"]);
    const document = await fetch(`${door.url}/openapi.json`);
    expect(await document.json()).toMatchObject({ openapi: "3.1.0" });
  });

  it("knows its paths and methods", async () => {
    await using door = await Door.open();
    for (const path of [
      "/",
      "/v1/events/",
      "/v1/event",
      "//v1/events",
      "/__proto__",
      "/healthz/x",
    ]) {
      const response = await fetch(door.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
    }
    const get = await fetch(`${door.url}/v1/events`);
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect(codeOf(await conforming(get))).toBe("method");
    const put = await fetch(`${door.url}/metrics`, { method: "PUT", body: "x" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(codeOf(await conforming(put, "/metrics", "get"))).toBe("method");
    using raw = new RawConnection(door.port).send(
      `GET http://localhost:${door.port}/healthz?x HTTP/1.1`,
      "host: localhost",
      "connection: close",
      "",
      "",
    );
    expect(await raw.end()).toMatch(/^HTTP\/1\.1 200/);
  });

  it.each([
    [415, "media_type", { "content-type": "application/json" }, ""],
    [415, "media_type", { "content-type": "application/x-ndjson; charset=latin1" }, ""],
    [400, "encoding", { "content-encoding": "br" }, ""],
    [400, "dialect", {}, "?dialect=nonsense"],
    [400, "dialect", {}, "?dialect=entelix&dialect=defect"],
  ])("answers %i %s", async (status, code, headers, query) => {
    await using door = await Door.open();
    const response = await door.post(event(), { headers, query });
    expect([response.status, codeOf(await conforming(response))]).toEqual([status, code]);
    expect(door.texts).toEqual([]);
  });

  it("is not for pages in a browser that found out its address", async () => {
    await using door = await Door.open();
    const ask = async (host: string) => {
      using raw = new RawConnection(door.port).send(
        "GET /healthz HTTP/1.1",
        `host: ${host}`,
        "connection: close",
        "",
        "",
      );
      return (await raw.end()).slice(9, 12);
    };
    expect(await ask("rebound.example:4321")).toBe("421");
    expect(await ask("127.0.0.1.rebound.example")).toBe("421");
    for (const host of ["localhost:4321", "127.0.0.1", "[::1]:4321"]) {
      expect(await ask(host)).toBe("200");
    }
  });

  it("tells such a page nothing of its tenants, with tokens either", async () => {
    const tokens = [
      { token: "a", tenant: "acme" },
      { token: "m", metrics: true },
    ];
    await using door = await Door.open({ tokens, loopback: true });
    const ask = async (host: string, ...headers: string[]) => {
      using raw = new RawConnection(door.port).send(
        "GET /metrics HTTP/1.1",
        `host: ${host}`,
        ...headers,
        "connection: close",
        "",
        "",
      );
      return (await raw.end()).slice(9, 12);
    };
    expect(await ask("rebound.example:4321")).toBe("401");
    expect(await ask("rebound.example:4321", "authorization: Bearer a")).toBe("403");
    expect(await ask("events.example", "authorization: Bearer m")).toBe("200");
    expect(await ask(`127.0.0.1:${door.port}`)).toBe("200");
  });

  it("answers what is no HTTP", async () => {
    await using door = await Door.open();
    const ask = async (...lines: string[]) => {
      using raw = new RawConnection(door.port).send(...lines);
      return await raw.end();
    };
    expect(await ask("nonsense", "", "")).toMatch(/^HTTP\/1\.1 400 .*"bad_request"/s);
    const long = await ask("GET / HTTP/1.1", `x: ${"x".repeat(20_000)}`, "", "");
    expect(long).toMatch(/^HTTP\/1\.1 431 .*"head_size"/s);
    expect(door.figures.refusals.get("bad_request")).toBe(1);
  });

  it("asks for the body only once it will be read", async () => {
    await using door = await Door.open({ tokens: [{ token: "a", tenant: "acme" }] });
    const head = (token: string, length: number) => [
      POST,
      "host: x",
      NDJSON,
      `authorization: Bearer ${token}`,
      `content-length: ${length}`,
      "expect: 100-continue",
      "",
      "",
    ];
    const body = event();
    using good = new RawConnection(door.port).send(...head("a", body.length));
    expect(await good.until("100 Continue")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    good.send(body);
    expect(await good.until('"accepted":1')).toContain("HTTP/1.1 200");
    using bad = new RawConnection(door.port).send(...head("b", body.length));
    expect(await bad.end()).toMatch(/^HTTP\/1\.1 401/);
  });

  it("serves requests of one connection one after the other", async () => {
    await using door = await Door.open();
    const request = (id: string) => {
      const body = event({ event_id: id });
      return [POST, "host: localhost", NDJSON, `content-length: ${body.length}`, "", body].join(
        "\r\n",
      );
    };
    using raw = new RawConnection(door.port);
    raw.send(request("a") + request("b") + request("a") + request("c"));
    raw.send("GET /healthz HTTP/1.1", "host: localhost", "connection: close", "", "");
    const text = await raw.end();
    const seen = [...text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status);
    expect(seen).toEqual(["accepted", "accepted", "duplicate", "accepted", "ok"]);
    expect(door.texts.map((line) => JSON.parse(line).event_id)).toEqual(["a", "b", "c"]);
  });

  it("cuts off who sends requests and never waits for an answer", async () => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    using raw = new RawConnection(door.port);
    const body = event();
    raw.send(POST, "host: localhost", NDJSON, `content-length: ${body.length}`, "", body);
    raw.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(200));
    expect(await raw.end()).toBe("");
    write();
  });

  it("ends a body that stops, or takes too long, and tells what it took", async () => {
    await using door = await Door.open({ limits: { idleMs: 300, requestMs: 700 } });
    const head = [POST, "host: localhost", NDJSON, "transfer-encoding: chunked", "", ""];
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    using still = new RawConnection(door.port).send(...head);
    still.send(chunk(`${event()}\n${event()}`));
    const text = await still.end();
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"accepted":1,');
    expect(text).toContain(
      '"code":"slow","message":"expected the next piece of the body within 0.3 s"',
    );
    using drip = new RawConnection(door.port).send(...head);
    const timer = setInterval(() => drip.send(chunk("x")), 50);
    expect(await drip.end()).toContain("expected the whole body within 0.7 s");
    clearInterval(timer);
    expect(door.texts.length).toBe(1);
  });

  it("keeps what was taken when the sender leaves, and nothing else", async () => {
    await using door = await Door.open();
    using raw = new RawConnection(door.port);
    raw.send(POST, "host: localhost", NDJSON, "content-length: 9999999", "", events(600));
    while (door.texts.length < 512) await new Promise((resolve) => setImmediate(resolve));
    raw.socket.destroy();
    while (door.figures.senderGone === 0) await new Promise((resolve) => setImmediate(resolve));
    expect([512, 600]).toContain(door.texts.length);
    expect(door.errors).toEqual([]);
    expect(await conforming(await door.post(events(600)))).toMatchObject({ lines: 600 });
    expect(new Set(door.texts).size).toBe(600);
    expect(door.texts.length).toBe(600);
  });

  it("warns of no leak where many send at a time", async () => {
    await using door = await Door.open();
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on("warning", note);
    try {
      const senders = Array.from({ length: 12 }, () => new RawConnection(door.port));
      for (const raw of senders) {
        raw.send(
          POST,
          "host: localhost",
          NDJSON,
          "content-length: 1000",
          "expect: 100-continue",
          "",
          "",
        );
      }
      // Each of them is being read by now.
      for (const raw of senders) await raw.until("100 Continue");
      await new Promise((resolve) => setImmediate(resolve));
      for (const raw of senders) raw.socket.destroy();
    } finally {
      process.off("warning", note);
    }
    expect(warnings).toEqual([]);
  });

  it("counts what gets into the journal after its sender has left", async () => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    using raw = new RawConnection(door.port);
    raw.send(POST, "host: localhost", NDJSON, "content-length: 9999999", "", events(512));
    while (door.journal.appends === 0) await new Promise((resolve) => setImmediate(resolve));
    raw.socket.destroy();
    while (door.figures.senderGone === 0) await new Promise((resolve) => setImmediate(resolve));
    write();
    while (door.figures.lines.size === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(door.texts.length).toBe(512);
    expect([...door.figures.lines]).toEqual([
      ["_any", { accepted: 512, duplicate: 0, rejected: 0 }],
    ]);
  });

  it("holds a sender back while the journal is busy", async () => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    using raw = new RawConnection(door.port);
    raw.send(POST, "host: localhost", NDJSON, "transfer-encoding: chunked", "", "");
    const text = events(1000, "x", { agent: "y".repeat(200) });
    const chunk = `${text.length.toString(16)}\r\n${text}\r\n`;
    for (let sent = 0; sent < 40; sent += 1) raw.socket.write(chunk);
    while (door.journal.appends === 0) await new Promise((resolve) => setImmediate(resolve));
    // Two groups are read, and what the sockets hold; the rest stays with the sender.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(door.figures.textBytes).toBeLessThan(1_500_000);
    expect(raw.socket.writableLength).toBeGreaterThan(1_000_000);
    write();
    raw.send("0", "", "");
    expect(await raw.until('"lines":')).toContain('"lines":40000');
  });

  it("answers too many senders, and drops what comes beyond them", async () => {
    await using door = await Door.open({ limits: { maxConnections: 2 } });
    const head = [POST, "host: localhost", NDJSON, "transfer-encoding: chunked", "", ""];
    using first = new RawConnection(door.port).send(...head);
    using second = new RawConnection(door.port).send(...head);
    while (door.server.connections < 2) await new Promise((resolve) => setImmediate(resolve));
    using third = new RawConnection(door.port).send(...head);
    expect(await third.end()).toMatch(/^HTTP\/1\.1 503 .*"connections"/s);
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
    const idle = Array.from({ length: 60 }, () => new RawConnection(door.port));
    while (door.figures.connectionsDropped === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(door.server.connections).toBeLessThanOrEqual(34);
    for (const each of [...idle, first, second]) each.socket.destroy();
  });

  it("takes events while connections without a request hold all places", async () => {
    await using door = await Door.open({ limits: { maxConnections: 4 } });
    const open = Array.from({ length: 120 }, (_, at) => {
      const each = new RawConnection(door.port);
      // Nothing, or the begin of a head.
      return at % 2 === 0 ? each : each.send(POST, "host: ");
    });
    await Promise.all(open.map(({ socket }) => once(socket, "connect")));
    for (let sent = 0; sent < 3; sent += 1) {
      using sender = new RawConnection(door.port);
      const text = `${event()}\n`;
      const length = `content-length: ${text.length}`;
      sender.send(POST, "host: localhost", NDJSON, length, "connection: close", "", text);
      expect(await sender.end()).toMatch(/^HTTP\/1\.1 200 /);
    }
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
    expect(door.server.connections).toBeLessThanOrEqual(36);
    expect(door.figures.connectionsDropped).toBeGreaterThanOrEqual(84);
    for (const each of open) each[Symbol.dispose]();
  });

  it("keeps a body that is being read when other connections come", async () => {
    await using door = await Door.open({ limits: { maxConnections: 2 } });
    using sender = new RawConnection(door.port);
    const text = `${event()}\n`;
    sender.send(POST, "host: localhost", NDJSON, `content-length: ${text.length}`, "", "");
    while (door.server.connections < 1) await new Promise((resolve) => setImmediate(resolve));
    const idle = Array.from({ length: 120 }, () => new RawConnection(door.port));
    await Promise.all(idle.map(({ socket }) => once(socket, "connect")));
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
    sender.send(text);
    expect(await sender.until('"accepted":1,')).toContain('"accepted":1,');
    for (const each of idle) each[Symbol.dispose]();
  });

  it("drains: requests come to their end, new ones are told to go elsewhere", async () => {
    await using door = await Door.open();
    using raw = new RawConnection(door.port);
    const text = `${event()}\n`;
    raw.send(POST, "host: localhost", NDJSON, `content-length: ${text.length}`, "", "");
    using other = new RawConnection(door.port);
    other.send("GET /healthz HTTP/1.1", "host: localhost", "", "");
    await other.until('"ok"');
    while (door.server.connections < 2) await new Promise((resolve) => setImmediate(resolve));
    const drained = door.server.drain(5_000);
    await other.end();
    raw.send(text);
    const answer = await raw.end();
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    expect(answer).toContain('"accepted":1,');
    await drained;
    await expect(fetch(`${door.url}/healthz`)).rejects.toThrow("fetch failed");
  });

  it("drains: what takes too long gets what was taken of it", async () => {
    await using door = await Door.open();
    using raw = new RawConnection(door.port);
    raw.send(POST, "host: localhost", NDJSON, "transfer-encoding: chunked", "", "");
    const text = events(600);
    raw.send(`${text.length.toString(16)}\r\n${text}\r\n`);
    while (door.texts.length < 600) await new Promise((resolve) => setTimeout(resolve, 10));
    await door.server.drain(50);
    const answer = await raw.end();
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"accepted":600,');
    expect(answer).toContain('"code":"draining"');
  });

  it("takes new tokens from one request to the next", async () => {
    await using door = await Door.open({ tokens: [{ token: "old", tenant: "acme" }] });
    const send = async (token: string) =>
      (await door.post(event(), { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await send("old"), await send("new")]).toEqual([200, 401]);
    door.access.replace(tokenSet([{ token: "new", tenant: "acme" }]));
    expect([await send("old"), await send("new")]).toEqual([401, 200]);
  });

  it("stays small under bodies of small bombs", async () => {
    await using door = await Door.open({ limits: { maxBodyBytes: 1_000_000 } });
    const bomb = gzipSync(Buffer.alloc(200_000_000, 0x30));
    const headers = { "content-encoding": "gzip" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => door.post(bomb, { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(413));
    expect(door.figures.textBytes).toBeLessThanOrEqual(8_000_000);
  });
});
