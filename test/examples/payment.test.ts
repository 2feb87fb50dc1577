import { describe, expect, it } from "vitest";
import { linesOf } from "./run-example.ts";

/** What a program of `examples/payment` prints for a decision. */
interface Line {
  readonly decision: string;
  readonly calls: readonly object[];
  readonly rows: readonly { readonly kind: string }[];
  readonly [field: string]: unknown;
}

const own = linesOf<Line>("payment/own-loop.mjs");
own.catch(() => {});

const RUN = { span: "invoke_agent treasurer" };
const CALL = { span: "execute_tool pay" };

const runs = [
  { outcome: "interrupted", waitsFor: "call_1", continues: [], isError: false },
  { outcome: "complete", waitsFor: null, continues: ["invoke_agent treasurer"], isError: false },
];

/** Of the first run, and how the second begins. */
const paused = [
  {
    ...RUN,
    kind: "entelix.run_started",
    agent: "treasurer",
    asked: "Pay 900 to Ada.",
    continues: false,
  },
  { ...RUN, kind: "interrupt", type: "approval_pending", call: "call_1" },
  {
    ...RUN,
    kind: "entelix.run_ended",
    outcome: "interrupted",
    calls: 0,
    approved: 0,
    denied: 0,
  },
  { ...RUN, kind: "entelix.run_started", agent: "treasurer", asked: null, continues: true },
  { ...RUN, kind: "resumed" },
];

const completed = (approved: number, denied: number) => ({
  ...RUN,
  kind: "entelix.run_ended",
  outcome: "complete",
  calls: 1,
  approved,
  denied,
});

const eve = { by: "user", person: "eve", isWaitKnown: true };

const decided = (decision: string, reason: string, proposed: object | null = null) => ({
  kind: "entelix.tool_call_decided",
  call: "call_1",
  tool: "pay",
  decision,
  ...eve,
  reason,
  proposed,
});

const paid = (amount: number) => [
  { ...CALL, kind: "tool_call", call: "call_1", tool: "pay", input: { amount } },
  { ...CALL, kind: "tool_result", call: "call_1", content: `paid ${amount}`, isError: false },
  completed(1, 0),
];

const proven = { isVerified: true, isIdentical: true };

const EXPECTED = [
  {
    decision: "approve",
    runs,
    calls: [
      {
        id: "call_1",
        outcome: "complete",
        input: '{"amount":900}',
        result: "paid 900",
        approval: "approved",
        ...eve,
        reason: "known customer",
        proposed: null,
        isWithoutLength: false,
        isError: false,
      },
    ],
    // The call has no span yet when it is approved.
    rows: [...paused, { ...RUN, ...decided("approved", "known customer") }, ...paid(900)],
    ...proven,
  },
  {
    decision: "edit",
    runs,
    calls: [
      {
        id: "call_1",
        outcome: "complete",
        input: '{"amount":90}',
        result: "paid 90",
        approval: "edited",
        ...eve,
        reason: "known customer",
        proposed: '{"amount":900}',
        isWithoutLength: false,
        isError: false,
      },
    ],
    rows: [
      ...paused,
      { ...RUN, ...decided("edited", "known customer", { amount: 900 }) },
      ...paid(90),
    ],
    ...proven,
  },
  {
    decision: "reject",
    runs,
    calls: [
      {
        id: "call_1",
        outcome: "denied",
        input: null,
        result: null,
        approval: "denied",
        ...eve,
        reason: "too much",
        proposed: null,
        isWithoutLength: true,
        isError: false,
      },
    ],
    // No `tool_call`: nothing was paid.
    rows: [...paused, { ...CALL, ...decided("denied", "too much") }, completed(0, 1)],
    ...proven,
  },
];

/** The same line from a framework whose approvals and edits have no reason. */
function withoutReason(line: Line): Line {
  if (line.decision === "reject") return line;
  const clear = <T extends object>(of: T): T => ("reason" in of ? { ...of, reason: null } : of);
  return { ...line, calls: line.calls.map(clear), rows: line.rows.map(clear) };
}

/** The same line from a framework that says at the end of each run what was asked. */
function askedAtTheEnd(line: Line): Line {
  const rows = line.rows.map((row) => {
    if (row.kind === "entelix.run_ended") return { ...row, asked: "Pay 900 to Ada." };
    return "asked" in row ? { ...row, asked: null } : row;
  });
  return { ...line, rows };
}

describe("examples/payment", () => {
  it("says in a loop of one's own who decided, and what was done", async () => {
    expect(await own).toEqual(EXPECTED);
  });

  it("says the same in LangGraph, where only a rejection has a reason", async () => {
    expect(await linesOf<Line>("payment/langgraph.mjs")).toEqual((await own).map(withoutReason));
  });

  it("says the same in the OpenAI Agents SDK, which knows no edit", async () => {
    const known = (await own).filter(({ decision }) => decision !== "edit");
    const same = known.map(withoutReason).map(askedAtTheEnd);
    expect(await linesOf<Line>("payment/openai-agents.mjs")).toEqual(same);
  });
});
