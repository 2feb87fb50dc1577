import { context, propagation } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const OWNED = { thread_id: "th-1", session_id: "visit-3", details: { user_id: "u-17" } };
const NAMES = ["user.id", "session.id", "gen_ai.conversation.id"];

/** User, session and conversation of each span of a run with every kind of span. */
function subjects(
  options: TelemetryOptions,
  envelope: object = OWNED,
  of: RunEvents = run,
): Readonly<Record<string, readonly unknown[]>> {
  const test = bench(options);
  test.at(0, of.started(), envelope);
  test.at(1, of.toolStart("c1"));
  test.at(2, of.toolComplete("c1"));
  test.at(3, of.modelComplete("m1"));
  test.at(4, of.stepStart("s1"));
  test.at(5, of.stepComplete("s1"));
  test.at(6, of.complete());
  expect(test.reports).toEqual([]);
  return Object.fromEntries(
    test.spans().map(({ attributes, name }) => [name, NAMES.map((each) => attributes[each])]),
  );
}

describe("user, session and conversation", () => {
  const all = ["u-17", "visit-3", "th-1"];
  const conversation = [undefined, undefined, "th-1"];

  it("stand on the run, and the conversation on its calls, unless an option asks for more", () => {
    expect(subjects({})).toEqual({
      "invoke_agent react": all,
      "execute_tool fetch": conversation,
      "chat small-1": conversation,
      "step route": [undefined, undefined, undefined],
    });
  });

  it.each<TelemetryOptions>([{ subjectOnAllSpans: true }, { conventions: "both" }])(
    "stand on every span with %j",
    (options) => {
      expect(subjects(options)).toEqual({
        "invoke_agent react": all,
        "execute_tool fetch": all,
        "chat small-1": all,
        "step route": all,
      });
    },
  );

  it("stand on every span as the late start of the run says", () => {
    const test = bench({ subjectOnAllSpans: true });
    test.at(1, run.toolStart("c1"));
    test.at(0, run.started(), OWNED);
    test.at(2, run.toolComplete("c1"));
    test.at(3, run.complete());
    expect(test.find("execute_tool fetch").attributes).toMatchObject({
      "user.id": "u-17",
      "session.id": "visit-3",
      "gen_ai.conversation.id": "th-1",
    });
  });

  it("are left out where nobody names them", () => {
    const found = Object.values(subjects({ subjectOnAllSpans: true }, {})).flat();
    expect(found.filter((value) => value !== undefined)).toEqual([]);
  });
});

describe("a session with sessionPerTenant", () => {
  const idOf = (tenant: string, session: string) => {
    const test = bench({ sessionPerTenant: true });
    const of = new RunEvents("018f3c7a-0000-7000-8000-000000000003", tenant);
    test.at(0, of.started(), { session_id: session, thread_id: session });
    test.at(1, of.toolComplete("c1"));
    test.at(2, of.complete());
    const { attributes } = test.find("invoke_agent react");
    const call = test.find("execute_tool fetch").attributes["gen_ai.conversation.id"];
    expect([attributes["gen_ai.conversation.id"], call]).toEqual(
      Array(2).fill(attributes["session.id"]),
    );
    return attributes["session.id"];
  };

  it("has the tenant before its ID, as has the conversation", () => {
    expect(idOf("acme", "visit-3")).toBe("acme/visit-3");
    expect(idOf("globex", "visit-3")).toBe("globex/visit-3");
  });

  it("never joins two tenants, whatever their names are", () => {
    const pairs: readonly (readonly [string, string])[] = [
      ["a", "b/c"],
      ["a/b", "c"],
      ["a%2Fb", "c"],
      ["a", "b%2Fc"],
      ["a%252Fb", "c"],
      ["", "a/b/c"],
    ];
    expect(new Set(pairs.map(([tenant, session]) => idOf(tenant, session))).size).toBe(
      pairs.length,
    );
  });
});

describe("baggage", () => {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(() => context.disable());

  const BAGGAGE = {
    "user.id": { value: "u-9" },
    "session.id": { value: "visit-9" },
    "gen_ai.conversation.id": { value: "th-9" },
    "other.id": { value: "x" },
  };
  const inside = <T>(work: () => T): T =>
    context.with(
      propagation.setBaggage(context.active(), propagation.createBaggage(BAGGAGE)),
      work,
    );
  const options: TelemetryOptions = { mode: "live", subjectFromBaggage: true };

  it("names user, session and conversation of a run on request", () => {
    expect(inside(() => subjects(options, {}))["invoke_agent react"]).toEqual([
      "u-9",
      "visit-9",
      "th-9",
    ]);
  });

  it("counts only where the sender of the run names nothing", () => {
    const envelope = { session_id: "visit-3" };
    expect(inside(() => subjects(options, envelope))["invoke_agent react"]).toEqual([
      "u-9",
      "visit-3",
      "th-9",
    ]);
    expect(inside(() => subjects(options))["invoke_agent react"]).toEqual([
      "u-17",
      "visit-3",
      "th-1",
    ]);
  });

  it.each<TelemetryOptions>([{ mode: "live" }, { mode: "replay", subjectFromBaggage: true }])(
    "is not read with %j",
    (given) => {
      expect(inside(() => subjects(given, {}))["invoke_agent react"]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    },
  );

  it("is not read where there is none, and no ID of more than 256 bytes is taken", () => {
    expect(subjects(options, {})["invoke_agent react"]).toEqual([undefined, undefined, undefined]);
    const long = propagation.createBaggage({ "user.id": { value: "x".repeat(257) } });
    const active = propagation.setBaggage(context.active(), long);
    const found = context.with(active, () => subjects(options, {}));
    expect(found["invoke_agent react"]?.[0]).toBeUndefined();
  });
});
