import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOCK_BYTES, HeldBytes } from "../../../src/service/http/held-body.ts";
import { Refusal } from "../../../src/service/http/refusal.ts";
import { bodyText } from "../../../src/service/http/request-body.ts";
import { IS_DEEP, runs } from "../../support/runs.ts";
import { codeOf, conforming } from "./support/conforming.ts";
import { Door, sha256 } from "./support/door.ts";
import { event, events } from "./support/lines.ts";
import { RawConnection } from "./support/raw-connection.ts";

const GZIP = { headers: { "content-encoding": "gzip" } };
/** One bit low, high and in the middle, and all of them: so that 0x1f becomes 0x00, too, by the last. */
const DAMAGES = [0x1f, 0x01, 0x10, 0x80];

/** Lines without an id, so that none is a duplicate when it comes again. */
function linesOf(count: number, agent: string): readonly string[] {
  return Array.from({ length: count }, (_, at) => event({ agent: `${agent} ${at * 7919}` }));
}

/** Lines that compress badly. */
function noisyLines(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const noise = Array.from({ length: 8 }, (_, part) => sha256(`${at} ${part}`));
    return event({ agent: noise.join("") });
  });
}

function bodyOf(lines: readonly string[]): Buffer {
  return gzipSync(lines.map((line) => `${line}\n`).join(""));
}

/** Sends it: either all lines are taken as they are, or none is and the answer says so. */
async function allOrNone(door: Door, body: Buffer, lines: readonly string[]): Promise<boolean> {
  const before = door.texts.length;
  const response = await door.post(body, GZIP);
  const answer: unknown = await response.json();
  const stored = door.texts.slice(before);
  if (response.status === 200) {
    expect(answer).toMatchObject({ accepted: lines.length, rejected: 0 });
    expect(stored).toEqual(lines);
    return true;
  }
  expect(response.status).toBe(400);
  expect(answer).toMatchObject({ lines: 0, results: [], error: { code: "encoding" } });
  expect(stored).toEqual([]);
  return false;
}

/** Each byte damaged in all ways, in `npm test` in one of them, in turn. */
function* damaged(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 1) {
    const turn = at % DAMAGES.length;
    for (const damage of IS_DEEP ? DAMAGES : DAMAGES.slice(turn, turn + 1)) {
      const copy = Buffer.from(body);
      copy[at] = (copy[at] ?? 0) ^ damage;
      yield copy;
    }
  }
}

describe("a gzip body", () => {
  it("is taken, also where the header does not say so, and of several members", async () => {
    await using door = await Door.open();
    const [one, two] = [gzipSync(events(2, "a")), gzipSync(events(2, "b"))];
    const both = await door.post(Buffer.concat([one, two]), GZIP);
    expect(await conforming(both)).toMatchObject({ accepted: 4 });
    expect(await conforming(await door.post(gzipSync(events(2, "c"))))).toMatchObject({
      accepted: 2,
    });
    for (const name of ["GZIP", "x-gzip", " gzip "]) {
      const headers = { "content-encoding": name };
      const answer = await conforming(await door.post(gzipSync(events(2, name)), { headers }));
      expect(answer).toMatchObject({ accepted: 2 });
    }
    const empty = await conforming(await door.post(gzipSync(""), GZIP));
    expect(empty).toMatchObject({ lines: 0, results: [] });
    const padded = Buffer.concat([gzipSync(events(2, "d")), Buffer.alloc(3 * BLOCK_BYTES)]);
    expect(await conforming(await door.post(padded, GZIP))).toMatchObject({ accepted: 2 });
    expect(door.texts.length).toBe(14);
    expect(door.server.heldBytes).toBe(0);
  });

  it("is taken whole where it has many blocks, and its text many pieces", async () => {
    await using door = await Door.open();
    const lines = noisyLines(3000);
    const body = bodyOf(lines);
    expect(body.length).toBeGreaterThan(5 * BLOCK_BYTES);
    expect(await allOrNone(door, body, lines)).toBe(true);
    expect(await allOrNone(door, Buffer.concat([body, body]), [...lines, ...lines])).toBe(true);
  });

  it("is taken whole or not at all, whichever of its bits are flipped", async () => {
    await using door = await Door.open();
    const lines = linesOf(6, "react");
    let taken = 0;
    for (const body of damaged(bodyOf(lines))) {
      if (await allOrNone(door, body, lines)) taken += 1;
    }
    // Time and system in the header mean nothing to the text; everything else does.
    expect(taken).toBeLessThan(10 * DAMAGES.length);
    expect(door.server.heldBytes).toBe(0);
  });

  it("is not taken where it is cut, at whichever byte", async () => {
    await using door = await Door.open();
    const lines = linesOf(6, "react");
    const body = bodyOf(lines);
    for (let length = 0; length < body.length; length += 1) {
      expect(await allOrNone(door, body.subarray(0, length), lines)).toBe(false);
    }
    expect(door.server.heldBytes).toBe(0);
  });

  it("is taken whole or not at all where its second member is damaged", async () => {
    await using door = await Door.open();
    const [first, second] = [linesOf(3, "react"), linesOf(3, "plan")];
    const lines = [...first, ...second];
    const [one, two] = [bodyOf(first), bodyOf(second)];
    for (const bytes of damaged(two)) await allOrNone(door, Buffer.concat([one, bytes]), lines);
    for (let length = 1; length < two.length; length += 1) {
      const body = Buffer.concat([one, two.subarray(0, length)]);
      expect(await allOrNone(door, body, lines)).toBe(false);
    }
  });

  it.each([
    ["other bytes behind its end", Buffer.from("junk")],
    ["one other byte behind its end", Buffer.from("x")],
    ["a member behind zeros", Buffer.concat([Buffer.alloc(5), gzipSync(events(1))])],
    ["other bytes behind many zeros", Buffer.concat([Buffer.alloc(200_000), Buffer.from("x")])],
    ["half of a second header", gzipSync(events(1)).subarray(0, 4)],
  ])("is not taken with %s", async (_, rest) => {
    await using door = await Door.open();
    const lines = linesOf(3, "react");
    expect(await allOrNone(door, Buffer.concat([bodyOf(lines), rest]), lines)).toBe(false);
  });

  it.each([
    ["no", Buffer.from(events(3))],
    ["half of its mark and other", Buffer.concat([Buffer.of(0x1f), Buffer.from(events(3))])],
    ["a byte of", Buffer.of(0x1f)],
    ["an empty body for", Buffer.alloc(0)],
  ])("is refused as %s gzip data", async (_, body) => {
    await using door = await Door.open();
    expect(await allOrNone(door, body, [])).toBe(false);
  });

  it.each(["gzip, gzip", "deflate", "br", "zstd", "gzip, identity", "x-gzip-2"])(
    "is no body of Content-Encoding: %s",
    async (encoding) => {
      await using door = await Door.open();
      const headers = { "content-encoding": encoding };
      const response = await door.post(gzipSync(gzipSync(events(1))), { headers });
      expect([response.status, codeOf(await conforming(response))]).toEqual([400, "encoding"]);
      expect(door.texts).toEqual([]);
    },
  );

  it("is not taken where its text is too long", async () => {
    await using door = await Door.open({ limits: { maxBodyBytes: 20_000 } });
    const bomb = gzipSync(`${event({ event_id: "b" })}\n${"0".repeat(10_000_000)}`);
    expect(bomb.length).toBeLessThan(20_000);
    const response = await door.post(bomb, GZIP);
    const answer = await conforming(response);
    expect([response.status, codeOf(answer)]).toEqual([413, "body_size"]);
    expect(door.texts).toEqual([]);
    expect(door.server.heldBytes).toBe(0);
  });

  it("waits for its last byte before a line counts", async () => {
    await using door = await Door.open();
    const lines = noisyLines(2000);
    const body = bodyOf(lines);
    using raw = new RawConnection(door.port);
    raw.send(
      "POST /v1/events HTTP/1.1",
      "host: localhost",
      "content-type: application/x-ndjson",
      "content-encoding: gzip",
      `content-length: ${body.length}`,
      "",
      "",
    );
    raw.socket.write(body.subarray(0, -1));
    while (door.server.heldBytes < body.length) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(door.texts).toEqual([]);
    raw.socket.write(body.subarray(-1));
    expect(await raw.until('"accepted":2000')).toContain("HTTP/1.1 200");
    expect(door.texts).toEqual(lines);
    expect(door.server.heldBytes).toBe(0);
  });
});

describe("the memory of gzip bodies", () => {
  const HEAD = [
    "POST /v1/events HTTP/1.1",
    "host: localhost",
    "content-type: application/x-ndjson",
    "content-encoding: gzip",
  ];

  /** A sender that has sent so many bytes of a body, and no more. */
  function begun(door: Door, bytes: number): RawConnection {
    const raw = new RawConnection(door.port);
    raw.send(...HEAD, `content-length: ${bytes + 1}`, "", "");
    raw.socket.write(Buffer.concat([Buffer.of(0x1f, 0x8b), Buffer.alloc(bytes - 2)]));
    return raw;
  }

  async function heldBytes(door: Door, bytes: number): Promise<void> {
    while (door.server.heldBytes !== bytes) await new Promise((resolve) => setImmediate(resolve));
  }

  it("is one for all connections: beyond it a body is told to come again", async () => {
    await using door = await Door.open({
      limits: { maxHeldBytes: 2 * BLOCK_BYTES, maxBodyBytes: BLOCK_BYTES },
    });
    using first = begun(door, 10);
    using second = begun(door, 10);
    await heldBytes(door, 2 * BLOCK_BYTES);
    const body = bodyOf(linesOf(3, "react"));
    const full = await door.post(body, GZIP);
    expect([full.status, full.headers.get("retry-after")]).toEqual([503, "5"]);
    const answer = await conforming(full);
    expect(codeOf(answer)).toBe("memory");
    expect(answer).toMatchObject({ lines: 0, results: [] });
    expect(door.figures.refusals.get("memory")).toBe(1);
    expect(door.figures.requests.get("/v1/events")?.get(503)).toBe(1);
    // What is not compressed waits for nothing.
    expect((await door.post(event())).status).toBe(200);
    first.socket.destroy();
    await heldBytes(door, BLOCK_BYTES);
    expect((await door.post(body, GZIP)).status).toBe(200);
    second.socket.destroy();
    await heldBytes(door, 0);
    expect(door.texts.length).toBe(4);
  });

  it("always has room for one body of the longest kind", async () => {
    const lines = noisyLines(1000);
    const text = lines.join("\n");
    // Stored and not compressed, it is the longer one of the two.
    const body = gzipSync(text, { level: 0 });
    await using door = await Door.open({ limits: { maxHeldBytes: 1, maxBodyBytes: body.length } });
    expect(await allOrNone(door, body, lines)).toBe(true);
  });

  it("is given back when a drain ends the reading of lines, which tells what was taken", async () => {
    await using door = await Door.open();
    let write = () => {};
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    door.journal.before = () => written;
    const body = gzipSync(events(20_000));
    using raw = new RawConnection(door.port);
    raw.send(...HEAD, `content-length: ${body.length}`, "", "");
    raw.socket.write(body);
    while (door.journal.appends === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = door.server.drain(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    write();
    const text = await raw.end();
    expect(text).toMatch(/^HTTP\/1\.1 503 .*"code":"draining"/s);
    const accepted = Number(/"accepted":(\d+)/.exec(text)?.[1]);
    expect(accepted).toBeLessThan(20_000);
    expect(door.texts.length).toBe(accepted);
    await drained;
    expect(door.server.heldBytes).toBe(0);
  });

  it("is given back by a body that stops, and by one that is ended by a drain", async () => {
    await using door = await Door.open({ limits: { idleMs: 100 } });
    using still = begun(door, 100_000);
    expect(await still.end()).toMatch(/^HTTP\/1\.1 408 .*"results":\[\],"error"/s);
    expect(door.server.heldBytes).toBe(0);
    await using other = await Door.open();
    using late = begun(other, 100_000);
    await heldBytes(other, 2 * BLOCK_BYTES);
    await other.server.drain(20);
    expect(await late.end()).toMatch(/^HTTP\/1\.1 503 .*"results":\[\],"error".*"draining"/s);
    expect(other.server.heldBytes).toBe(0);
  });

  it("is counted in blocks, so that a body in crumbs takes no more than it says", async () => {
    const held = new HeldBytes(BLOCK_BYTES);
    const body = gzipSync(events(20));
    let text = "";
    let most = 0;
    const crumbs = [Buffer.alloc(0), ...Array.from(body, (byte) => Buffer.of(byte))];
    const options = { encoding: "gzip", maxBytes: 100_000, held, onBytes: () => {} } as const;
    for await (const chunk of bodyText(Readable.from(crumbs), options)) {
      most = Math.max(most, held.used);
      text += chunk.toString();
    }
    expect([text, most, held.used]).toEqual([events(20), BLOCK_BYTES, 0]);
  });

  it("is 0 in the end, whatever the bodies were and however they ended", async () => {
    const maxBytes = 300_000;
    const most = 8 * BLOCK_BYTES;
    const ending = fc.constantFrom("whole", "damaged", "cut", "gone", "left", "bomb");
    const sender = fc.record({ size: fc.integer({ min: 0, max: 250_000 }), ending });
    await fc.assert(
      fc.asyncProperty(fc.array(sender, { maxLength: 12 }), fc.scheduler(), async (all, turns) => {
        const held = new HeldBytes(most);
        const send = async ({ size, ending: end }: (typeof all)[number]) => {
          const text = end === "bomb" ? Buffer.alloc(maxBytes + 1) : Buffer.alloc(size, 0x30);
          const body = gzipSync(text, { level: end === "bomb" ? 9 : 0 });
          if (end === "damaged") body[body.length - 5] = (body.at(-5) ?? 0) ^ 1;
          const sent = end === "cut" ? body.subarray(0, -1) : body;
          const pieces = async function* () {
            for (let at = 0; at < sent.length; at += 50_000) {
              await turns.schedule(Promise.resolve());
              yield sent.subarray(at, at + 50_000);
            }
            if (end === "gone") throw new Error("gone");
          };
          const got: Buffer[] = [];
          const options = { encoding: "gzip", maxBytes, held, onBytes: () => {} } as const;
          for await (const chunk of bodyText(pieces(), options)) {
            expect(held.used).toBeLessThanOrEqual(most);
            got.push(chunk);
            // A refusal of its lines: nobody asks for more.
            if (end === "left") return "left";
          }
          expect(Buffer.concat(got).equals(text)).toBe(true);
          return "whole";
        };
        const sends = all.map((each) =>
          send(each).catch((error: Error) =>
            error instanceof Refusal ? error.code : error.message,
          ),
        );
        const ends = await turns.waitFor(Promise.all(sends));
        expect(held.used).toBe(0);
        for (const [at, { ending, size }] of all.entries()) {
          // A body without text has no line to leave at.
          const end = ending === "left" && size === 0 ? "whole" : ending;
          expect([EXPECTED[end], "memory"]).toContain(ends[at]);
        }
        if (all.length === 1) expect(ends).not.toContain("memory");
      }),
      { numRuns: runs(60) },
    );
  });
});

const EXPECTED = {
  whole: "whole",
  damaged: "encoding",
  cut: "encoding",
  gone: "gone",
  left: "left",
  bomb: "body_size",
} as const;
