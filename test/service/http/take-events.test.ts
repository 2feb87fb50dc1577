import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { Refusal } from "../../../src/service/http/refusal.ts";
import { codeOf, conforming } from "./support/conforming.ts";
import { Door } from "./support/door.ts";
import { event, events } from "./support/lines.ts";

/** No time passes for groups of lines, so that a group is full however slowly a busy machine reads them. */
function withoutTimers(): Disposable {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
}

describe("POST /v1/events", () => {
  it("tells of each line what became of it", async () => {
    await using door = await Door.open();
    const good = event({ event_id: "a" });
    const body = [
      good,
      "",
      good,
      '{"type":"started"',
      event({ event_id: "b", run_id: 7 }),
      event({ type: "brand_new", event_id: "c" }),
      event(),
    ];
    const response = await door.post(body.join("\r\n"));
    expect(response.status).toBe(200);
    const answer = await conforming(response);
    expect(answer).toMatchObject({ lines: 6, accepted: 3, duplicate: 1, rejected: 2 });
    expect(answer.results).toEqual([
      { line: 1, status: "accepted" },
      { line: 3, status: "duplicate" },
      { line: 4, status: "rejected", field: "json", expected: expect.stringMatching(/column 18$/) },
      { line: 5, status: "rejected", field: "run_id", expected: expect.any(String) },
      { line: 6, status: "accepted", unknown_type: "brand_new" },
      { line: 7, status: "accepted" },
    ]);
    expect(door.texts).toEqual([good, body[5], body[6]]);
    expect(door.figures.unknownLines).toBe(1);
    const [first] = door.journal.lines;
    expect(first).toEqual({
      text: good,
      tenant: undefined,
      dialect: "entelix",
      key: undefined,
      trusted: true,
      decoded: { dialect: "entelix", event: expect.objectContaining({ text: good }) },
    });
  });

  it("acknowledges only what is durable", async () => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    let answered = false;
    const response = door.post(events(3)).then((value) => {
      answered = true;
      return value;
    });
    while (door.journal.appends === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    write();
    expect(await conforming(await response)).toMatchObject({ accepted: 3 });
    expect(door.texts.length).toBe(3);
  });

  it("takes lines that tell no dialect for one of the first that does, in their order", async () => {
    await using door = await Door.open();
    const unknown = (id: string) => event({ type: "brand_new", event_id: id });
    const body = [unknown("a"), "oops", unknown("b"), event({ event_id: "c" }), unknown("d")];
    const answer = await conforming(await door.post(body.join("\n")));
    expect(answer).toMatchObject({ accepted: 4, rejected: 1 });
    expect(door.texts).toEqual([body[0], ...body.slice(2)]);
    expect(door.journal.lines.map(({ dialect }) => dialect)).toEqual(Array(4).fill("entelix"));
  });

  it("holds 32 of them, and rejects what none tells the dialect of", async () => {
    await using door = await Door.open();
    const unknown = event({ type: "brand_new" });
    const none = await conforming(await door.post(unknown));
    const expected = "an event of entelix or agent-sdk or defect or graph";
    expect(none.results).toEqual([{ line: 1, status: "rejected", field: "type", expected }]);
    const lines = [...Array<string>(40).fill(unknown), event()];
    const answer = await conforming(await door.post(lines.join("\n")));
    expect(answer).toMatchObject({ rejected: 33, accepted: 8 });
    expect(answer.results).toMatchObject([
      ...lines.slice(0, 33).map((_, at) => ({ line: at + 1, status: "rejected", expected })),
      ...lines.slice(33).map((_, at) => ({ line: at + 34, status: "accepted" })),
    ]);
  });

  it("reads each dialect, by its lines or by the query", async () => {
    await using door = await Door.open();
    const graph = '{"kind":"user_message","content":[],"timestamp":"2026-05-04T09:00:00Z"}';
    expect(await conforming(await door.post(`${graph}\n${event()}`))).toMatchObject({
      accepted: 2,
    });
    expect(door.journal.lines.map(({ dialect }) => dialect)).toEqual(["graph", "entelix"]);
    const named = await door.post(event(), { query: "?dialect=entelix" });
    expect(await conforming(named)).toMatchObject({ accepted: 1 });
    const other = await conforming(await door.post(graph, { query: "?dialect=defect" }));
    expect(other).toMatchObject({ accepted: 0, rejected: 1 });
    expect(door.errors).toEqual([]);
  });

  it("rejects a line that is too long, and reads the others", async () => {
    await using door = await Door.open({ limits: { maxLineBytes: 1000 } });
    const long = event({ agent: "x".repeat(200_000) });
    const answer = await conforming(await door.post(`${event()}\n${long}\n${event()}`));
    expect(answer.results).toEqual([
      { line: 1, status: "accepted" },
      { line: 2, status: "rejected", field: "line", expected: "at most 1000 bytes" },
      { line: 3, status: "accepted" },
    ]);
  });

  it("rejects what is no UTF-8", async () => {
    await using door = await Door.open();
    const answer = await conforming(await door.post(Buffer.from([0x22, 0xff, 0x22])));
    expect(answer.results).toEqual([
      { line: 1, status: "rejected", field: "line", expected: "valid UTF-8" },
    ]);
  });

  it("ends a body at its limits, and tells what it took", async () => {
    await using door = await Door.open({ limits: { maxLines: 3, maxBodyBytes: 20_000 } });
    const lines = await door.post(`\n${events(3)}`);
    expect(lines.status).toBe(413);
    const counted = await conforming(lines);
    expect(counted).toMatchObject({ lines: 2, accepted: 2 });
    expect(codeOf(counted)).toBe("line_count");
    expect(door.texts.length).toBe(2);
    for (const [body, status] of [
      ["\n".repeat(3), 200],
      ["\n".repeat(4), 413],
      [events(3, "all"), 200],
      [`${events(3, "all")} \r\n`, 413],
    ] as const) {
      const response = await door.post(body);
      const answer = await conforming(response);
      expect([response.status, answer.lines]).toEqual([status, body.includes("all") ? 3 : 0]);
      if (status === 413) expect(codeOf(answer)).toBe("line_count");
    }

    const declared = await door.post("x".repeat(20_001));
    expect([declared.status, codeOf(await conforming(declared))]).toEqual([413, "body_size"]);
    const bomb = gzipSync(`${event({ event_id: "b" })}\n${"0".repeat(10_000_000)}`);
    expect(bomb.length).toBeLessThan(20_000);
    const inflated = await door.post(bomb, { headers: { "content-encoding": "gzip" } });
    expect([inflated.status, codeOf(await conforming(inflated))]).toEqual([413, "body_size"]);
  });

  it("ends a body at the rate of its tenant, others' go on", async () => {
    await using door = await Door.open({
      rate: 2,
      tokens: [
        { token: "a", tenant: "acme" },
        { token: "g", tenant: "globex", rate: 1000 },
      ],
    });
    const send = (token: string, tenant_id: string) =>
      door.post(events(100, "e", { tenant_id }), { headers: { authorization: `Bearer ${token}` } });
    const slow = await send("a", "acme");
    expect(slow.status).toBe(429);
    const answer = await conforming(slow);
    expect(answer).toMatchObject({ lines: 10, accepted: 10 });
    expect(codeOf(answer)).toBe("rate");
    expect(slow.headers.get("retry-after")).toBe("1");
    expect((await send("g", "globex")).status).toBe(200);
    expect(door.texts.length).toBe(110);
  });

  it("does not charge what came before, so that who sends all of it again gets on", async () => {
    await using door = await Door.open({ rate: 2 });
    expect((await door.post(events(8))).status).toBe(200);
    const again = await door.post(events(10));
    expect([again.status, await conforming(again)]).toMatchObject([
      200,
      { lines: 10, duplicate: 8, accepted: 2 },
    ]);
    // What can't be an event is charged: it would be free to flood with.
    const bad = await door.post("{\n".repeat(30));
    expect([bad.status, codeOf(await conforming(bad))]).toEqual([429, "rate"]);
  });

  it("ends a body when too much is not stored yet", async () => {
    using _ = withoutTimers();
    await using door = await Door.open();
    door.journal.before = async () => {
      door.refusal = new Refusal("backlog", "full");
    };
    const full = await door.post(events(1500));
    expect([full.status, full.headers.get("retry-after")]).toEqual([503, "5"]);
    const answer = await conforming(full);
    expect(answer).toMatchObject({ lines: 512, accepted: 512 });
    expect(codeOf(answer)).toBe("backlog");
  });

  it("says so when the journal can't be written, and takes the lines later", async () => {
    using _ = withoutTimers();
    await using door = await Door.open();
    door.journal.before = async () => {
      if (door.journal.appends === 2) throw new Error("ENOSPC");
    };
    const body = events(600);
    const full = await door.post(body);
    expect(full.status).toBe(503);
    expect(full.headers.get("retry-after")).toBe("5");
    const answer = await conforming(full);
    expect(answer).toMatchObject({ lines: 512, accepted: 512 });
    expect(codeOf(answer)).toBe("store");
    expect(await conforming(await door.post(body))).toMatchObject({ accepted: 88, duplicate: 512 });
    expect(new Set(door.texts).size).toBe(600);
  });
});

describe("tokens", () => {
  const tokens = [
    { token: "a", tenant: "acme" },
    { token: "t", tenant: "acme", trusted: true },
    { token: "m", metrics: true },
  ];
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it("are asked for", async () => {
    await using door = await Door.open({ tokens });
    for (const init of [{}, as("nobody"), { headers: { authorization: "Basic YTpi" } }]) {
      const response = await door.post(event(), init);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(codeOf(await conforming(response))).toBe("token");
    }
    const metrics = await door.post(event(), as("m"));
    expect([metrics.status, codeOf(await conforming(metrics))]).toEqual([403, "forbidden"]);
    expect(door.texts).toEqual([]);
  });

  it("bind lines to their tenant", async () => {
    await using door = await Door.open({ tokens });
    const other = event({ tenant_id: "globex", event_id: "x" });
    const answer = await conforming(
      await door.post(`${other}\n${event({ event_id: "x", tenant_id: undefined })}`, as("a")),
    );
    expect(answer.results).toEqual([
      {
        line: 1,
        status: "rejected",
        field: "tenant_id",
        expected: '"acme", the tenant of the token',
      },
      { line: 2, status: "accepted" },
    ]);
    expect(door.journal.lines).toMatchObject([{ tenant: "acme", trusted: false }]);
    await door.post(event(), as("t"));
    expect(door.journal.lines[1]).toMatchObject({ tenant: "acme", trusted: true });
    expect([...door.figures.lines]).toEqual([["acme", { accepted: 2, duplicate: 0, rejected: 1 }]]);
  });

  it("let the metrics be read, which need none on a loopback address", async () => {
    await using door = await Door.open({ tokens });
    const read = async (init: RequestInit = {}) =>
      (await fetch(`${door.url}/metrics`, init)).status;
    expect(await read()).toBe(401);
    expect(await read(as("a"))).toBe(403);
    expect(await read(as("m"))).toBe(200);
    await using local = await Door.open({ tokens, loopback: true });
    expect((await fetch(`${local.url}/metrics`)).status).toBe(200);
  });
});
