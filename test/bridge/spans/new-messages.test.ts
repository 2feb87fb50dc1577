import { describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { Conversation } from "../../../src/events/door.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const other = new RunEvents("018f3c7a-0000-7000-8000-000000000003");

const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
const SYSTEM = said("system", "Be kind");
const ASKED = said("user", "Where is it?");
const ANSWERED = said("assistant", "Which order?");
const NAMED = said("user", "4711");

interface Shown {
  readonly messages: unknown;
  readonly earlier: unknown;
}

/** Calls of a model, each with one of these inputs. @returns what each span has. */
function calls(inputs: readonly unknown[], options: TelemetryOptions = {}, isKept = true): Shown[] {
  const conversation = new Conversation();
  const test = bench({ captureContent: true, messages: "new", ...options });
  test.at(0, run.started());
  for (const [at, given] of inputs.entries()) {
    const input = isKept ? conversation.messages(given) : given;
    test.at(2 * at + 1, run.modelStart(`m${at}`, { input }));
    test.at(2 * at + 2, run.modelComplete(`m${at}`));
  }
  test.at(2 * inputs.length + 1, run.complete());
  conversation.end();
  return shownOn(test.spans());
}

function shownOn(spans: ReturnType<ReturnType<typeof bench>["spans"]>): Shown[] {
  return spans
    .filter(({ name }) => name.startsWith("chat"))
    .map(({ attributes }) => {
      const text = attributes["gen_ai.input.messages"];
      return {
        messages: text === undefined ? undefined : JSON.parse(String(text)),
        earlier: attributes["entelix.content.earlier_messages"],
      };
    });
}

const GROWING = [
  [SYSTEM, ASKED],
  [SYSTEM, ASKED, ANSWERED, NAMED],
];

describe("the messages of a model call with `messages: new`", () => {
  const expected = [
    { messages: [SYSTEM, ASKED], earlier: undefined },
    { messages: [ANSWERED, NAMED], earlier: 2 },
  ];

  it("are those that the call before had not, with the number of the others", () => {
    expect(calls(GROWING)).toEqual(expected);
    expect(calls(GROWING, { messages: "all" })).toEqual(
      GROWING.map((messages) => ({ messages, earlier: undefined })),
    );
    expect(calls(GROWING, { messages: undefined })[1]?.messages).toEqual(GROWING[1]);
  });

  it("are the same for events that are sent by hand", () => {
    expect(calls(GROWING, {}, false)).toEqual(expected);
    const chat = GROWING.map((list) =>
      list.map(({ parts, role }) => ({ role, content: parts[0]?.content })),
    );
    expect(calls(chat, {}, false)).toEqual(expected);
  });

  it("are all those of the end, if start and end of the call have an input", () => {
    const test = bench({ captureContent: true, messages: "new" });
    test.at(0, run.started());
    test.at(1, run.modelStart("m0", { input: [SYSTEM, ASKED] }));
    test.at(2, run.modelComplete("m0"));
    test.at(3, run.modelStart("m1", { input: [SYSTEM, ASKED, ANSWERED] }));
    test.at(4, run.modelComplete("m1", { input: [SYSTEM, ASKED] }));
    test.at(5, run.complete());
    expect(shownOn(test.spans())).toEqual([
      { messages: [SYSTEM, ASKED], earlier: undefined },
      { messages: [SYSTEM, ASKED], earlier: 0 },
    ]);
  });

  it("do not depend on calls that started later", () => {
    const test = bench({ captureContent: true, messages: "new" });
    test.at(0, run.started());
    test.at(1, run.modelStart("m0"));
    test.at(2, run.modelStart("m1"));
    test.at(3, run.modelComplete("m1", { input: [SYSTEM, ASKED] }));
    test.at(4, run.modelComplete("m0", { input: [SYSTEM, NAMED] }));
    test.at(5, run.modelStart("m2", { input: [SYSTEM, ASKED, ANSWERED] }));
    test.at(6, run.modelComplete("m2"));
    test.at(7, run.complete());
    expect(shownOn(test.spans())).toEqual([
      { messages: [SYSTEM, ASKED], earlier: undefined },
      { messages: [SYSTEM, NAMED], earlier: undefined },
      { messages: [ANSWERED], earlier: 2 },
    ]);
  });

  it("start with the first one that differs", () => {
    const edited = said("user", "Where are they?");
    expect(calls([...GROWING, [SYSTEM, edited, ANSWERED], [ANSWERED]]).slice(2)).toEqual([
      { messages: [edited, ANSWERED], earlier: 1 },
      { messages: [ANSWERED], earlier: undefined },
    ]);
  });

  it("are none if a call is made again", () => {
    expect(calls([GROWING[0], GROWING[0]])[1]).toEqual({ messages: undefined, earlier: 2 });
  });

  it("are compared as the redaction hook made them", () => {
    const hidden = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll("4711", "***"));
    for (const redactOnce of [false, true]) {
      expect(calls(GROWING, { redact: hidden, redactOnce })).toEqual(hidden(expected));
    }
  });

  it("are all of them where JSON does not have one of them, and in the call after that", () => {
    const big = { role: "user", parts: [{ type: "x", n: 2n ** 60n }] };
    const shown = calls([GROWING[0], [SYSTEM, big], [SYSTEM, ASKED]], {}, false);
    expect(shown.map(({ earlier }) => earlier)).toEqual([undefined, undefined, undefined]);
    expect(shown.map(({ messages }) => Array.isArray(messages) && messages.length)).toEqual([
      2, 2, 2,
    ]);
  });

  it("are counted for each run by itself, and the question of a run is complete", () => {
    const test = bench({ captureContent: true, messages: "new" });
    for (const [at, of] of [run, other].entries()) {
      test.at(at, of.started(), { details: { input: [SYSTEM, ASKED] } });
      test.at(at, of.modelStart("m1", { input: [SYSTEM, ASKED] }));
      test.at(at + 1, of.modelComplete("m1"));
      test.at(at + 1, of.complete());
    }
    expect(shownOn(test.spans())).toEqual([expected[0], expected[0]]);
    const runs = test.spans().filter(({ name }) => name.startsWith("invoke_agent"));
    for (const { attributes } of runs) {
      expect(JSON.parse(String(attributes["gen_ai.input.messages"]))).toEqual([SYSTEM, ASKED]);
      expect(attributes).not.toHaveProperty("entelix.content.earlier_messages");
    }
  });

  it("are cut like all others, but then each once", () => {
    const long = Array.from({ length: 60 }, (_, n) => said("user", `${n} `.padEnd(3_000, "x")));
    const shown = calls([long.slice(0, 20), long.slice(0, 40), long]);
    expect(shown.map(({ earlier }) => earlier)).toEqual([undefined, 20, 40]);
    expect(shown.flatMap(({ messages }) => messages)).toEqual(long);
  });
});
