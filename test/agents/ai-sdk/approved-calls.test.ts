import { describe, expect, it } from "vitest";
import { asks, FakeCall, listen, type Part, text } from "./fake-sdk.ts";
import { FakeCall6, listen6 } from "./fake-sdk-6.ts";

const pay = asks("pay", "c1", { amount: "ten" });
const answer = { type: "tool-approval-response", approvalId: "a1", approved: true };

/** The messages of a call that resumes with these parts, and the model's request after it. */
const resumed = (...parts: readonly object[]) => [
  { role: "user", content: "pay" },
  {
    role: "assistant",
    content: [pay, { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }],
  },
  { role: "tool", content: parts },
];
const resultOf = (output: object): Part => ({ type: "tool-result", toolCallId: "c1", output });

interface Heard {
  readonly types: () => readonly string[];
  readonly ofType: ReturnType<typeof listen>["ofType"];
}

/** A call of each version whose messages have the answer, and whose first request has the result. */
const versions = {
  7: async (messages: readonly object[], request: readonly object[]): Promise<Heard> => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start({ messages });
    heard.telemetry.onLanguageModelCallStart({ callId: call.callId, messages: request });
    call.answers([text("done")]);
    call.end([text("done")]);
    return heard;
  },
  6: async (messages: readonly object[], request: readonly object[]): Promise<Heard> => {
    const heard = listen6();
    await new FakeCall6(heard.tracer, { messages }).generate((call) =>
      call.model([text("done")], request),
    );
    return heard;
  },
};

describe.each(Object.entries(versions))("an approved call of the AI SDK %s", (_, resume) => {
  it("is a failed call if its input no longer fits, with what the model is told", async () => {
    const refusal = resultOf({ type: "error-text", value: "Type validation failed" });
    const heard = await resume(resumed(answer), resumed(refusal));
    expect(heard.types()).toEqual([
      "started",
      "tool_call_approved",
      "tool_start",
      "tool_error",
      "model_start",
      "model_complete",
      "complete",
    ]);
    expect(heard.ofType("tool_start")[0]).toMatchObject({
      tool_use_id: "c1",
      tool: "pay",
      input: { amount: "ten" },
    });
    expect(heard.ofType("tool_error")[0]).toMatchObject({
      kind: "validation",
      envelope: { wire_code: "tool_input_invalid" },
      error_for_llm: "Type validation failed",
    });
  });

  it("is denied if a rule denies it after all", async () => {
    const refusal = resultOf({ type: "execution-denied", reason: "over the limit" });
    const heard = await resume(resumed(answer), resumed(refusal));
    expect(heard.types().slice(1, 4)).toEqual([
      "tool_call_approved",
      "tool_call_denied",
      "model_start",
    ]);
    expect(heard.ofType("tool_call_denied")[0]).toMatchObject({
      tool_use_id: "c1",
      reason: "over the limit",
      sentIn: { details: { decision: { by: "policy" } } },
    });
  });

  it("has no second decision if the messages have its result already", async () => {
    const paid = resultOf({ type: "text", value: "paid" });
    const heard = await resume(resumed(answer, paid), resumed(paid));
    expect(heard.types()).toEqual(["started", "model_start", "model_complete", "complete"]);
  });
});

describe("an approved call that the SDK makes", () => {
  it("is reported once, also if its code throws", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start({ messages: resumed(answer) });
    await call.tool(pay, () => Promise.reject(new Error("no funds")));
    const messages = resumed(resultOf({ type: "error-text", value: "Error: no funds" }));
    heard.telemetry.onLanguageModelCallStart({ callId: call.callId, messages });
    expect(heard.types().slice(1)).toEqual([
      "tool_call_approved",
      "tool_start",
      "tool_error",
      "model_start",
    ]);
  });
});

describe("a tool that is not active in a step", () => {
  it("is unknown to the model", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    await call.start({ tools: { pay: {}, look: {} } });
    const { callId } = call;
    heard.telemetry.onLanguageModelCallStart({ callId, tools: [{ name: "look" }] });
    call.answers([pay]);
    const error = "Model tried to call unavailable tool 'pay'. Available tools: look.";
    call.step([{ ...pay, type: "tool-error", dynamic: true, error }]);
    expect(heard.ofType("tool_error")[0]?.envelope.wire_code).toBe("tool_unknown");
  });
});
