import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MOST_CONNECTIONS, ViewServer } from "../../../src/view/server/view-server.ts";
import { RawConnection } from "../../service/http/support/raw-connection.ts";
import { aDetail, aRun, aSpan, FakeRuns } from "../support/fake-runs.ts";

const PAGE = { script: "draw();", style: "body { color: black }" };
const RUN = aDetail(aRun("one", { agent: "</script>" }), { spans: [aSpan("s1", 0, 1)] });

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

let runs: FakeRuns;
let server: ViewServer;
const errors: unknown[] = [];

beforeEach(async () => {
  errors.length = 0;
  runs = new FakeRuns([RUN]);
  const onError = (error: unknown) => errors.push(error);
  server = await ViewServer.listen({ runs, page: PAGE, port: 0, onError });
});

afterEach(() => server.close());

/** Not `fetch`, which would not send a `Host` or an `Origin` of one's own. */
function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Got> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port: server.port, path, headers, method, agent: false };
    httpRequest(to, (response) => {
      const { headers, statusCode: status } = response;
      textOf(response).then((text) => resolve({ status, headers, text }), reject);
    })
      .on("error", reject)
      .end();
  });
}

const tokenPath = () => server.url.slice(new URL(server.url).origin.length);

/** Headers of a request with the session that the token is good for. */
async function session(): Promise<Record<string, string>> {
  const { text } = await get(tokenPath());
  const [, found = ""] =
    /<meta name="entelix-otel.session" content="([\w-]{43})">/.exec(text) ?? [];
  return { authorization: `Bearer ${found}` };
}

describe("the server of view", () => {
  it("exchanges the token once for a session in the page, and sets no cookie", async () => {
    const first = await get(tokenPath());
    expect([first.status, first.headers["set-cookie"]]).toEqual([200, undefined]);
    expect(first.text).toContain('<meta name="entelix-otel.session" content="');
    expect(first.text).not.toContain(new URL(server.url).searchParams.get("token"));
    expect(first.text).toContain('<script type="module" src="/page.js"></script>');
  });

  it("gives no session for a token that was used, but the page, which may have one", async () => {
    const own = await session();
    const again = await get(tokenPath());
    expect([again.status, again.headers["set-cookie"]]).toEqual([403, undefined]);
    expect(again.text).toBe((await get("/")).text);
    expect((await get("/runs", own)).status).toBe(200);
    const without = await get("/runs");
    expect(without.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(without.text).toContain("works once");
  });

  it.each(["/?token=", "/?token=wrong", `/?token=${"a".repeat(4_000)}`, "/runs", "/run?key=one"])(
    "refuses %s without a session, and leaves the token as it was",
    async (path) => {
      const { status, text } = await get(path);
      expect(status).toBe(403);
      expect(text).not.toMatch(/content="[\w-]{43}"|planner/);
      expect((await get(tokenPath())).status).toBe(200);
    },
  );

  it("takes no wrong session, and none in a cookie: browsers send cookies to every port", async () => {
    const { authorization: right = "" } = await session();
    const bare = right.slice("Bearer ".length);
    for (const wrong of [`${right}x`, right.slice(0, -1), bare, `bearer ${bare}`, "Bearer ", ""]) {
      expect((await get("/runs", { authorization: wrong })).status, wrong).toBe(403);
    }
    for (const name of [`entelix-view-${server.port}`, "entelix-otel.session", "session"]) {
      expect((await get("/runs", { cookie: `${name}=${bare}` })).status, name).toBe(403);
    }
  });

  it("does not use the token up for a request of the head alone, or in advance", async () => {
    expect((await get(tokenPath(), {}, "HEAD")).status).toBe(403);
    expect((await get(tokenPath(), { "sec-purpose": "prefetch" })).status).toBe(403);
    expect((await get(tokenPath())).status).toBe(200);
  });

  it("serves script and style to everybody, list and run to who has the session", async () => {
    const script = await get("/page.js");
    expect([script.text, script.headers["content-type"]]).toEqual([
      PAGE.script,
      "text/javascript; charset=utf-8",
    ]);
    expect((await get("/page.css")).text).toBe(PAGE.style);
    const own = await session();
    const list = await get("/runs", own);
    expect(list.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(list.text)).toEqual(runs.list(["one"]));
    expect(JSON.parse((await get("/runs?since=1", own)).text)).toEqual(runs.list([]));
    expect(JSON.parse((await get("/run?key=one", own)).text)).toEqual(RUN);
    const parts = await get("/run/parts?key=one", own);
    expect(parts.headers["content-type"]).toBe("application/x-ndjson");
    const { rows: _, spans, ...head } = RUN;
    expect(
      parts.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([{ ...head, span_count: 1 }, { spans }, { end: true }]);
    expect((await get("/run/parts?key=one&since=x", own)).status).toBe(400);
    expect((await get("/run/parts?key=two", own)).status).toBe(404);
    expect((await get("/run/parts?key=one")).status).toBe(403);
    expect((await get("/runs", own, "HEAD")).text).toBe("");
    expect(errors).toEqual([]);
  });

  it("says in words what it does not have, or does not take", async () => {
    const own = await session();
    const run = await get("/run?key=two", own);
    expect([run.status, run.text]).toEqual([404, "There is no such run in what is viewed.\n"]);
    runs.leftOut = 7;
    expect((await get("/run?key=two", own)).text).toContain("Older runs are left out");
    expect((await get("/other", own)).status).toBe(404);
    expect((await get("/runs?since=x", own)).status).toBe(400);
    const post = await get("/runs", own, "POST");
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("says why a run could not be read", async () => {
    runs.detail = async () => {
      throw new Error("a.ndjson: no such file");
    };
    const { status, text } = await get("/run?key=one", await session());
    expect([status, text]).toEqual([500, "The run could not be read: a.ndjson: no such file\n"]);
    expect(errors).toHaveLength(1);
  });

  it.each([
    ["evil.example", 421],
    ["evil.example:PORT", 421],
    ["127.0.0.1.evil.example:PORT", 421],
    ["127.0.0.1", 421],
    ["127.0.0.1:1", 421],
    ["127.0.0.1:0PORT", 421],
    ["127.0.0.1:000PORT", 421],
    ["127.0.0.1:", 421],
    ["[::1]:PORT", 200],
    ["localhost:PORT", 200],
    ["127.0.0.1:PORT", 200],
  ])("answers the Host %s with %i", async (host, status) => {
    const own = { ...(await session()), host: host.replace("PORT", String(server.port)) };
    expect((await get("/runs", own)).status).toBe(status);
  });

  it.each([
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://127.0.0.1:1" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    // Another port of this machine is of the same site, and may be anybody's.
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ "sec-fetch-site": "none" }, 200],
  ])("answers a request with %j with %i", async (headers, status) => {
    expect((await get("/runs", { ...(await session()), ...headers })).status).toBe(status);
  });

  it("has strict headers on every answer", async () => {
    const own = await session();
    for (const path of ["/", "/page.js", "/runs", "/run?key=one", "/run?key=two", "/?token=x"]) {
      const { headers } = await get(path, path.includes("token") ? {} : own);
      expect(headers["content-security-policy"], path).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers, path).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
      });
    }
  });

  it("answers while idle connections hold all places", async () => {
    const own = await session();
    const open = Array.from({ length: 3 * MOST_CONNECTIONS }, (_, at) => {
      const each = new RawConnection(server.port);
      // Nothing, the begin of a head, a request and then nothing.
      if (at % 3 === 1) each.send("GET /runs HTTP/1.1", "host: ");
      if (at % 3 === 2) each.send("GET / HTTP/1.1", `host: 127.0.0.1:${server.port}`, "", "");
      return each;
    });
    await Promise.all(open.map(({ socket }) => once(socket, "connect")));
    for (let asked = 0; asked < 10; asked += 1) {
      expect((await get("/runs", own)).status).toBe(200);
      expect((await get("/page.js")).text).toBe(PAGE.script);
    }
    // As many as there are places, but for the one of the last answer.
    const isOpen = ({ socket }: RawConnection) => !socket.destroyed;
    expect(open.filter(isOpen).length).toBeGreaterThan(MOST_CONNECTIONS / 2);
    for (const each of open) each[Symbol.dispose]();
  });

  it("keeps the connection of who has the session when idle ones come", async () => {
    const { authorization } = await session();
    const ask = ["GET /run?key=two HTTP/1.1", `host: 127.0.0.1:${server.port}`];
    const own = [...ask, `authorization: ${authorization}`, "", ""];
    using page = new RawConnection(server.port).send(...own);
    await page.until("no such run");
    const idle = Array.from({ length: 3 * MOST_CONNECTIONS }, () => new RawConnection(server.port));
    await Promise.all(idle.map(({ socket }) => once(socket, "connect")));
    // The page's connection is older than all of them.
    page.send(...own);
    while (page.text.split("no such run").length < 3 && !page.socket.destroyed) await page.more();
    expect(page.socket.destroyed).toBe(false);
    for (const each of idle) each[Symbol.dispose]();
  });

  it("sends a list of any length as it is read", async () => {
    let given = 0;
    let before = 0;
    runs.listJson = function* () {
      yield "[0";
      for (given = 1; given < 4_000; given += 1) yield `,"${"x".repeat(10_000)}"`;
      yield "]";
    };
    const own = await session();
    const bytes = await new Promise<number>((resolve, reject) => {
      const to = { host: "127.0.0.1", port: server.port, path: "/runs", headers: own };
      httpRequest(to, (response) => {
        response.pause();
        setTimeout(() => {
          before = given;
          textOf(response).then((text) => resolve(JSON.parse(text).length), reject);
        }, 300);
      }).end();
    });
    expect(bytes).toBe(4_000);
    // Nobody read it, and so the rest was not made.
    expect(before).toBeLessThan(4_000);
  });
});
