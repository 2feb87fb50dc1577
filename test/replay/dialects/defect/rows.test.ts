import { describe, expect, it } from "vitest";
import { decodeGraphEvent, encodeGraphEvent } from "../../../../src/entries/audit.ts";
import { parseExact } from "../../../../src/entries/events.ts";
import { toContentPart } from "../../../../src/replay/dialects/defect/content.ts";
import { decodeDefect } from "../../../../src/replay/dialects/defect/defect-dialect.ts";
import { DefectMapping } from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type { AcpContentBlock } from "../../../../src/replay/dialects/defect/events.ts";
import { recordedLines, recordings } from "./recordings.ts";
import { Session, say } from "./session.ts";

/** The rows, short: thread, kind, and what one of them is about. */
function kinds(session: Session) {
  return session.rows.map(({ event, threadId }) => [threadId, event.kind]);
}

describe("the audit rows of a turn", () => {
  it("come when it ends, in the order of its events, and not before", () => {
    const session = new Session()
      .at(0, say.prompt("hi"))
      .at(1, say.asks())
      .at(2, say.thought("a"))
      .at(3, say.thought("b"))
      .at(4, say.text("x"))
      .at(5, say.text("y"))
      .at(6, say.answered(1, { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 1 }))
      .at(7, say.tool("c", "read", { id: 9007199254740993n }))
      .at(8, say.done("c", { rawOutput: [18446744073709551615n] }));
    expect(session.rows).toEqual([]);
    session.at(9, say.ended());
    expect(session.rows.map(({ event }) => event)).toEqual([
      {
        kind: "user_message",
        content: [{ type: "text", text: "hi" }],
        timestamp: "2026-06-12T10:00:00Z",
      },
      { kind: "thinking_delta", text: "ab", timestamp: "2026-06-12T10:00:00.002Z" },
      {
        kind: "assistant_message",
        content: [{ type: "text", text: "xy" }],
        usage: {
          input_tokens: 3,
          output_tokens: 2,
          cached_input_tokens: 1,
          cache_creation_input_tokens: 0,
          reasoning_tokens: 0,
          safety_ratings: [],
        },
        timestamp: "2026-06-12T10:00:00.006Z",
      },
      {
        kind: "tool_call",
        id: "c",
        name: "read",
        input: { id: 9007199254740993n },
        timestamp: "2026-06-12T10:00:00.007Z",
      },
      {
        kind: "tool_result",
        tool_use_id: "c",
        name: "read",
        content: [18446744073709551615n],
        is_error: false,
        timestamp: "2026-06-12T10:00:00.008Z",
      },
    ]);
    expect(new Set(session.rows.map(({ runId, threadId }) => [runId, threadId].join()))).toEqual(
      new Set([`${session.runs[0]},s`]),
    );
  });

  it("are ones that upstream can read", () => {
    const session = new Session()
      .at(0, say.prompt("hi"))
      .at(1, say.text("before the end of the call"))
      .at(2, say.answered(1, { input_tokens: 2 ** 40, output_tokens: 1 }))
      .at(3, say.tool("c"))
      .at(4, say.broke("c"))
      .at(5, say.prompt(), ["c"])
      .at(6, say.ended("cancelled"))
      .at(7, say.ended(), ["c"]);
    expect(session.rows.length).toBe(7);
    for (const { event } of session.rows) {
      const read = decodeGraphEvent(parseExact(encodeGraphEvent(event)));
      expect(read).toMatchObject({ event });
    }
  });

  it("of a turn that was aborted are dropped and counted, its sub-agents' are not", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("c", "spawn_agent"))
      .at(2, say.prompt("sub"), ["c"])
      .at(3, say.ended(), ["c"])
      .at(4, say.done("c"))
      .at(5, say.aborted())
      .at(6, say.prompt("again"))
      .at(7, say.ended())
      .end();
    expect(kinds(session)).toEqual([
      ["s/c", "user_message"],
      ["s", "user_message"],
    ]);
    expect(session.mapping.counts).toMatchObject({ rolledBackTurns: 1, rolledBackRows: 4 });
    expect(session.mapping.unprojected.get("turn_aborted")).toBe(1);
  });

  it("are not made of a model call that said nothing and used nothing, which is counted", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(2, say.answered())
      .at(3, say.asks())
      .at(4, say.answered(1, { input_tokens: 1, output_tokens: 1 }))
      .at(5, say.ended());
    expect(kinds(session)).toEqual([
      ["s", "user_message"],
      ["s", "assistant_message"],
    ]);
    expect(session.mapping.unprojected.get("llm_call_finished")).toBe(1);
  });

  it("of a turn whose end never came are given out: nothing says that it was taken back", () => {
    const superseded = new Session().at(0, say.prompt("one")).at(5, say.prompt("two"));
    expect(kinds(superseded)).toEqual([["s", "user_message"]]);
    expect(kinds(superseded.end())).toEqual([
      ["s", "user_message"],
      ["s", "user_message"],
    ]);
  });

  it("of a sub-agent go to a thread of their own, which the turn above names", () => {
    const play = (session: Session) =>
      session
        .at(0, say.prompt())
        .at(1, say.tool("c", "spawn_agent"))
        .at(2, say.prompt(), ["c"])
        .at(3, say.prompt(), ["c", "d"])
        .at(4, say.ended(), ["c", "d"])
        .at(5, say.ended(), ["c"])
        .at(6, say.ended());
    const named = play(new Session());
    expect(kinds(named)).toEqual([
      ["s/c/d", "user_message"],
      ["s/c", "user_message"],
      ["s/c", "sub_agent_invoked"],
      ["s", "user_message"],
      ["s", "tool_call"],
      ["s", "sub_agent_invoked"],
    ]);
    expect(named.rows[5]?.event).toMatchObject({ agent_id: "a-c", sub_thread_id: "s/c" });
    const nameless = play(new Session({}, null));
    const root = nameless.runs[0];
    expect([...new Set(nameless.rows.map(({ threadId }) => threadId))]).toEqual([
      `${root}/c/d`,
      `${root}/c`,
      undefined,
    ]);
  });

  it("hold a cancel, and a reply that was cut", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(2, say.text("par"))
      .at(3, say.ended("cancelled"));
    expect(session.rows.map(({ event }) => event)).toMatchObject([
      { kind: "user_message" },
      { kind: "assistant_message", content: [{ text: "par" }], usage: null },
      { kind: "cancelled", reason: "cancelled", timestamp: "2026-06-12T10:00:00.003Z" },
    ]);
  });

  it("have one row for a denied call's start and one for its end", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("c", "rm"))
      .at(2, say.policy("c", "deny"))
      .at(2, say.refused("c", "rm", "denied by policy"))
      .at(2, say.broke("c", "denied by policy"))
      .at(3, say.ended());
    expect(session.rows.slice(1).map(({ event }) => event)).toMatchObject([
      { kind: "tool_call", id: "c", name: "rm" },
      { kind: "tool_result", name: "rm", content: "denied by policy", is_error: true },
    ]);
  });

  it("take from a call what it gave back: raw output, else its text, else its content", () => {
    const diff = { type: "diff", path: "a", newText: "b" };
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.done("a", { rawOutput: null, content: [diff] }))
      .at(2, say.done("b", { rawOutput: null }))
      .at(
        3,
        say.done("c", {
          rawOutput: null,
          content: [
            { type: "content", content: { type: "text", text: "one" } },
            diff,
            { type: "content", content: { type: "text", text: "two" } },
          ],
        }),
      )
      .at(4, say.ended());
    expect(session.rows.slice(1).map(({ event }) => event)).toMatchObject([
      { content: [diff] },
      { content: null },
      { content: "one\ntwo" },
    ]);
  });
});

describe("a mapping without rows", () => {
  it("says the same of the runs, and holds nothing for the log", () => {
    const play = (rows: boolean) => {
      const mapping = new DefectMapping({ rows });
      const steps = recordings()
        .flatMap(recordedLines)
        .flatMap((line) => {
          const decoded = decodeDefect(line);
          return decoded.outcome === "event" ? [decoded] : [];
        })
        .map(({ envelope, event }) => mapping.translate(event, envelope));
      return { steps, counts: mapping.counts };
    };
    const [withRows, without] = [play(true), play(false)];
    const signals = ({ steps }: typeof without) => steps.map((step) => step.signals);
    expect(signals(without)).toEqual(signals(withRows));
    expect(withRows.steps.flatMap(({ rows }) => rows).length).toBeGreaterThan(40);
    expect(without.steps.flatMap(({ rows }) => rows)).toEqual([]);
    expect(without.counts).toMatchObject({ rolledBackTurns: 2, rolledBackRows: 0, rowsOver: 0 });
  });
});

describe("toContentPart", () => {
  const parts: [AcpContentBlock, unknown][] = [
    [
      { type: "text", text: "a" },
      { type: "text", text: "a" },
    ],
    [
      { type: "image", data: "QQ==", mimeType: "image/png" },
      { type: "image", source: { kind: "base64", media_type: "image/png", data: "QQ==" } },
    ],
    [
      { type: "image", data: "", mimeType: "image/png", uri: "https://x/y.png" },
      { type: "image", source: { kind: "url", url: "https://x/y.png", media_type: "image/png" } },
    ],
    [
      { type: "audio", data: "QQ==", mimeType: "audio/wav" },
      { type: "audio", source: { kind: "base64", media_type: "audio/wav", data: "QQ==" } },
    ],
    [
      { type: "resource_link", uri: "file:///a", name: "a" },
      {
        type: "document",
        source: { kind: "url", url: "file:///a", media_type: null },
        name: "a",
      },
    ],
    [
      { type: "resource", resource: { uri: "file:///a", blob: "QQ==", mimeType: "a/b" } },
      {
        type: "document",
        source: { kind: "base64", media_type: "a/b", data: "QQ==" },
        name: "file:///a",
      },
    ],
    [
      { type: "resource", resource: { uri: "file:///a", text: "t" } },
      { type: "text", text: '{"type":"resource","resource":{"uri":"file:///a","text":"t"}}' },
    ],
    [
      { type: "brand_new", n: 9007199254740993n },
      { type: "text", text: '{"type":"brand_new","n":9007199254740993}' },
    ],
  ];

  it("makes of each block what an audit message has for it", () => {
    expect(parts.map(([block]) => toContentPart(block))).toEqual(parts.map(([, part]) => part));
  });
});

describe("the bounds", () => {
  it("of held rows drop what is over, and count it", () => {
    const session = new Session({ heldRows: 2 })
      .at(0, say.prompt())
      .at(1, say.tool("c"))
      .at(2, say.done("c"))
      .at(3, say.ended())
      .at(4, say.prompt())
      .at(5, say.ended());
    expect(kinds(session)).toEqual([
      ["s", "user_message"],
      ["s", "tool_call"],
      ["s", "user_message"],
    ]);
    expect(session.mapping.counts.rowsOver).toBe(1);
    const large = new Session({ heldCharacters: 500 })
      .at(0, say.prompt("x".repeat(300)))
      .at(1, say.prompt("y".repeat(300)), ["c"])
      .at(2, say.text("z".repeat(300)))
      .at(3, say.ended())
      .at(4, say.prompt("y".repeat(300)), ["d"]);
    expect(kinds(large)).toEqual([
      ["s", "user_message"],
      ["s", "sub_agent_invoked"],
    ]);
    expect(large.mapping.counts.rowsOver).toBe(2);
  });

  it("of streams forget the ones that were silent longest, and tell of their open turns", () => {
    const session = new Session({ streams: 4 }, null);
    for (let n = 0; n < 6; n++) {
      session.at(n, say.prompt(), [], { session_id: `s${n}` });
      // The first one stays in use.
      session.at(n, say.asks(), [], { session_id: "s0" });
    }
    expect(session.mapping.counts).toMatchObject({ forgottenStreams: 3, rowsOver: 3 });
    expect(session.only("run_closes").map(([ms, n, , said]) => [ms, n, said])).toEqual([
      [1, 2, { end: { outcome: "abandoned", reason: "limit" } }],
      [2, 3, { end: { outcome: "abandoned", reason: "limit" } }],
      [3, 4, { end: { outcome: "abandoned", reason: "limit" } }],
    ]);
  });

  it("of open calls forget the oldest, as the lifecycle does", () => {
    const session = new Session({ openCalls: 2 })
      .at(0, say.prompt())
      .at(1, say.tool("a", "one"))
      .at(2, say.tool("b", "two"))
      .at(3, say.tool("c", "three"))
      .at(4, say.done("a"))
      .at(5, say.done("c"))
      .at(6, say.ended());
    expect(session.only("call_closes").map(([ms, , , said]) => [ms, said.name])).toEqual([
      [4, ""],
      [5, "three"],
    ]);
    expect(session.mapping.counts.forgottenCalls).toBe(1);
  });

  it.each(["streams", "openCalls", "callers", "heldRows", "heldCharacters"])(
    "%s must be a whole number from 2",
    (name) => {
      expect(() => new Session({ [name]: 1 })).toThrow(
        `limits.${name}: expected a whole number from 2, got 1`,
      );
    },
  );
});
