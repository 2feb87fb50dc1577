import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ViewServer } from "../../../src/view/server/view-server.ts";
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

async function cookie(): Promise<string> {
  const { headers } = await get(tokenPath());
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

describe("the server of view", () => {
  it("exchanges the token once for a strict cookie, and leads to the page without it", async () => {
    const { headers, status } = await get(tokenPath());
    expect([status, headers.location]).toEqual([303, "/"]);
    const [set = ""] = headers["set-cookie"] ?? [];
    expect(set).toMatch(
      new RegExp(`^entelix-view-${server.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`),
    );
    expect(set).not.toContain(new URL(server.url).searchParams.get("token"));
    const page = await get("/", { cookie: `other=1; ${set.split(";")[0]}` });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<script type="module" src="/page.js"></script>');
  });

  it("refuses a token that was used, and says what to do", async () => {
    expect((await get(tokenPath())).status).toBe(303);
    const again = await get(tokenPath());
    expect([again.status, again.headers["set-cookie"]]).toEqual([403, undefined]);
    expect(again.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(again.text).toContain("works once");
  });

  it("leads who has the cookie to the page, also with the used token", async () => {
    const own = { cookie: await cookie() };
    const again = await get(tokenPath(), own);
    expect([again.status, again.headers["set-cookie"]]).toEqual([303, undefined]);
  });

  it.each(["/?token=", "/?token=wrong", `/?token=${"a".repeat(4_000)}`, "/", "/runs", "/page.js"])(
    "refuses %s without a cookie, and leaves the token as it was",
    async (path) => {
      const { headers, status, text } = await get(path);
      expect([status, headers["set-cookie"]]).toEqual([403, undefined]);
      expect(text).not.toContain("draw");
      expect((await get(tokenPath())).status).toBe(303);
    },
  );

  it("takes no wrong cookie", async () => {
    const right = await cookie();
    for (const wrong of [`${right}x`, right.slice(0, -1), right.replace("=", "x="), "=", ";;"]) {
      expect((await get("/runs", { cookie: wrong })).status, wrong).toBe(403);
    }
  });

  it("does not use the token up for a request of the head alone", async () => {
    expect((await get(tokenPath(), {}, "HEAD")).status).toBe(403);
    expect((await get(tokenPath())).status).toBe(303);
  });

  it("serves script, style, list and run to who has the cookie", async () => {
    const own = { cookie: await cookie() };
    const script = await get("/page.js", own);
    expect([script.text, script.headers["content-type"]]).toEqual([
      PAGE.script,
      "text/javascript; charset=utf-8",
    ]);
    expect((await get("/page.css", own)).text).toBe(PAGE.style);
    const list = await get("/runs", own);
    expect(list.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(list.text)).toEqual(runs.list(["one"]));
    expect(JSON.parse((await get("/runs?since=1", own)).text)).toEqual(runs.list([]));
    expect(JSON.parse((await get("/run?key=one", own)).text)).toEqual(RUN);
    expect((await get("/runs", own, "HEAD")).text).toBe("");
    expect(errors).toEqual([]);
  });

  it("says in words what it does not have, or does not take", async () => {
    const own = { cookie: await cookie() };
    const run = await get("/run?key=two", own);
    expect([run.status, run.text]).toEqual([404, "There is no such run in what is viewed.\n"]);
    expect((await get("/other", own)).status).toBe(404);
    expect((await get("/runs?since=x", own)).status).toBe(400);
    const post = await get("/runs", own, "POST");
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("says why a run could not be read", async () => {
    runs.detail = async () => {
      throw new Error("a.ndjson: no such file");
    };
    const { status, text } = await get("/run?key=one", { cookie: await cookie() });
    expect([status, text]).toEqual([500, "The run could not be read: a.ndjson: no such file\n"]);
    expect(errors).toHaveLength(1);
  });

  it.each([
    ["evil.example", 421],
    ["evil.example:PORT", 421],
    ["127.0.0.1.evil.example:PORT", 421],
    ["127.0.0.1", 421],
    ["127.0.0.1:1", 421],
    ["[::1]:PORT", 200],
    ["localhost:PORT", 200],
    ["127.0.0.1:PORT", 200],
  ])("answers the Host %s with %i", async (host, status) => {
    const own = { cookie: await cookie(), host: host.replace("PORT", String(server.port)) };
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
    expect((await get("/runs", { cookie: await cookie(), ...headers })).status).toBe(status);
  });

  it("has strict headers on every answer", async () => {
    const own = { cookie: await cookie() };
    for (const path of ["/", "/page.js", "/runs", "/run?key=one", "/run?key=two", "/?token=x"]) {
      const { headers } = await get(path, path.includes("token") ? {} : own);
      expect(headers["content-security-policy"], path).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
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

  it("sends a list of any length as it is read", async () => {
    let given = 0;
    let before = 0;
    runs.listJson = function* () {
      yield "[0";
      for (given = 1; given < 4_000; given += 1) yield `,"${"x".repeat(10_000)}"`;
      yield "]";
    };
    const own = { cookie: await cookie() };
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
