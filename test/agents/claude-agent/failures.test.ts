import { describe, expect, it } from "vitest";
import { observe, play, prompts } from "./observed.ts";
import {
  apiError,
  INIT,
  type Message,
  result,
  resultError,
  retry,
  says,
  text,
  totals,
} from "./scripted-sdk.ts";

/** A run that ends with these messages. */
async function ending(...messages: readonly Message[]) {
  const seen = observe();
  await play(seen, async (sdk) => {
    await sdk.prompt("hi");
    sdk.send(...messages);
  });
  const [failed] = seen.of("failed");
  return { seen, failed: failed?.event };
}

describe("an answer that the provider ends early", () => {
  const reasons = (seen: ReturnType<typeof observe>) =>
    seen.of("model_complete").map(({ event }) => event.finish_reasons);
  const failure = { is_error: true, terminal_reason: "api_error", api_error_status: null };

  it("by a refusal is a call with that finish reason, and no failed call of the SDK's own message", async () => {
    const again = {
      type: "user",
      message: { role: "user", content: [text("Do not produce that content again.")] },
      refused_message_id: "m1",
    };
    const said = "API Error: the model can't help with this";
    const { failed, seen } = await ending(
      says("m1", text("no")),
      again,
      says("m2", text("no again")),
      { ...apiError("invalid_request", said), refused_message_id: "m2" },
      result(said, { ...failure, stop_reason: "refusal" }),
    );
    expect(reasons(seen)).toEqual([["refusal"], ["refusal"]]);
    expect(seen.of("model_error")).toEqual([]);
    expect(failed).toMatchObject({ kind: { type: "model_dispatch" }, error: said });
    expect(failed?.envelope).not.toHaveProperty("provider_status");
  });

  it.each([
    ["max_tokens", { cut: "output_limit" }],
    ["model_context_window_exceeded", { cut: "context_window" }],
  ])("by %s has that finish reason", async (reason, cut) => {
    const said = "API Error: the answer is too long";
    const { failed, seen } = await ending(
      says("m1", text("cut")),
      { ...apiError("max_output_tokens", said), api_error_params: cut },
      result(said, { ...failure, stop_reason: "stop_sequence" }),
    );
    expect(reasons(seen)).toEqual([[reason]]);
    expect(failed).toMatchObject({ kind: { type: "model_dispatch" } });
  });
});

describe("a model call that fails", () => {
  it("is one call with its retries, and ends the run", async () => {
    const { failed, seen } = await ending(
      retry(529, "overloaded"),
      retry(529, "overloaded"),
      apiError("overloaded", "API Error: 529 overloaded"),
      result("API Error: 529 overloaded", {
        is_error: true,
        api_error_status: 529,
        terminal_reason: "api_error",
      }),
    );
    expect(seen.tree()).toEqual([
      "invoke_agent claude failed model_dispatch !",
      "  chat claude-sonnet-4-5 error !",
    ]);
    expect(failed).toMatchObject({
      kind: { type: "model_dispatch" },
      envelope: { wire_code: "upstream_unavailable", provider_status: 529, origin: "model" },
      error: "provider returned 529: API Error: 529 overloaded",
    });
  });

  it("and is answered after retries is no failure", async () => {
    const { failed, seen } = await ending(
      retry(529, "overloaded"),
      says("m1", text("ok")),
      result("ok"),
    );
    expect(failed).toBeUndefined();
    expect(seen.tree()).toEqual([
      "invoke_agent claude complete",
      "  chat claude-sonnet-4-5 complete",
    ]);
  });

  it.each([
    ["authentication_failed", "upstream_unauthorized", 401],
    ["oauth_org_not_allowed", "upstream_unauthorized", 403],
    ["account_on_hold", "upstream_unauthorized", 403],
    ["verification_required", "upstream_unauthorized", 403],
    ["billing_error", "upstream_invalid", 402],
    ["rate_limit", "rate_limited", 429],
    ["overloaded", "upstream_unavailable", 529],
    ["invalid_request", "upstream_invalid", 400],
    ["model_not_found", "upstream_invalid", 404],
    ["server_error", "upstream_unavailable", 500],
    ["cloud_credential_error", "auth_failed", undefined],
    ["unknown", "unclassified", undefined],
  ])("with %s has the wire code %s", async (word, code, status) => {
    const more = { is_error: true, terminal_reason: "api_error" };
    const { failed, seen } = await ending(apiError(word, "API Error"), result("API Error", more));
    const [call] = seen.of("model_error");
    expect(call?.event.envelope.wire_code).toBe(code);
    expect(call?.event.envelope.provider_status).toBe(status);
    expect(call?.event.kind).toEqual({ type: "model_dispatch" });
    expect(failed?.kind).toEqual({ type: "model_dispatch" });
    expect(failed?.envelope.origin).toBe("model");
  });

  it("with an unknown word has the status of the last retry", async () => {
    const { seen } = await ending(retry(503, "unknown"), apiError("unknown", "API Error"));
    expect(seen.of("model_error")[0]?.event.envelope.provider_status).toBe(503);
  });
});

describe("a result that is an error", () => {
  it.each([
    ["with the option", { maxTurns: 2 }, 2],
    ["with the limit of the settings", {}, 2],
  ])("max turns, %s: a budget of requests", async (_, options, limit) => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        const errors = ["Reached maximum number of turns (2)"];
        sdk.send(resultError("error_max_turns", errors, { num_turns: 3 }));
      },
      { options },
    );
    const [failed] = seen.of("failed");
    expect(failed?.event).toMatchObject({
      kind: { type: "usage_limit_exceeded" },
      envelope: { wire_code: "quota_exceeded", breach: { axis: "requests", limit, observed: 3 } },
    });
  });

  it("max budget: the cost since the query began", async () => {
    const seen = observe();
    await play(
      seen,
      async (sdk) => {
        await sdk.prompt("hi");
        const errors = ["Reached maximum budget ($0.5)"];
        sdk.send(resultError("error_max_budget_usd", errors, totals(10, 5, 0.5125)));
      },
      { options: { maxBudgetUsd: 0.5 } },
    );
    expect(seen.of("failed")[0]?.event).toMatchObject({
      kind: { type: "usage_limit_exceeded" },
      envelope: { breach: { axis: "cost_usd", limit: "0.5", observed: "0.5125" } },
    });
  });

  it.each([
    ["aborted_streaming", "cancelled", "cancelled", "run"],
    ["aborted_tools", "cancelled", "cancelled", "run"],
    ["model_error", "model_dispatch", "unclassified", "model"],
    ["prompt_too_long", "model_dispatch", "unclassified", "model"],
    ["turn_setup_failed", "internal", "config_error", "run"],
    ["hook_stopped", "unclassified", "unclassified", "run"],
  ])("during execution, by %s, is %s", async (reason, kind, code, origin) => {
    const { failed } = await ending(
      resultError("error_during_execution", ["it broke"], { terminal_reason: reason }),
    );
    expect(failed?.kind).toEqual({ type: kind });
    expect(failed?.envelope).toMatchObject({ wire_code: code, origin });
  });

  it("of a start that failed is a wrong set-up", async () => {
    const seen = observe();
    const more = { startup_failure_reason: "cwd_unavailable", modelUsage: {}, total_cost_usd: 0 };
    await play(
      seen,
      async (sdk) => sdk.send(resultError("error_during_execution", ["no cwd"], more)),
      {
        prompt: prompts(),
      },
    );
    expect(seen.lines()).toEqual(["started claude", "failed internal: config error: no cwd"]);
  });

  it("without a structured output is the model's", async () => {
    const { failed } = await ending(
      resultError("error_max_structured_output_retries", ["no valid output"]),
    );
    expect(failed?.envelope).toMatchObject({ wire_code: "model_retry_exhausted", origin: "model" });
    expect(failed?.kind).toEqual({ type: "model_dispatch" });
  });
});

describe("a process", () => {
  it("that dies fails its run, once, and its calls are cancelled", async () => {
    const seen = observe();
    const { thrown } = await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      await sdk.before("t1", "Bash", {});
      throw new Error("Claude Code process terminated by signal SIGKILL");
    });
    expect(String(thrown)).toContain("SIGKILL");
    expect(seen.lines()).toEqual([
      "started claude",
      "tool_start Bash t1",
      "tool_error Bash t1 cancelled",
      "failed unclassified: Claude Code process terminated by signal SIGKILL",
    ]);
  });

  it("that fails before its first prompt leaves a failed run", async () => {
    const seen = observe();
    await play(
      seen,
      async () => {
        throw new Error("spawn ENOENT");
      },
      { prompt: prompts() },
    );
    expect(seen.lines()).toEqual(["started claude", "failed unclassified: spawn ENOENT"]);
  });

  it("that ends without a result fails its run", async () => {
    const seen = observe();
    await play(seen, async (sdk) => sdk.send(INIT));
    expect(seen.lines()).toEqual([
      "started claude",
      "failed unclassified: the stream of the SDK ended before the result",
    ]);
  });

  it("whose error comes after its result has no second end", async () => {
    const seen = observe();
    const { thrown } = await play(seen, async (sdk) => {
      await sdk.prompt("hi");
      sdk.send(resultError("error_max_turns", ["Reached maximum number of turns (2)"]));
      throw new Error("Claude Code returned an error result");
    });
    expect(thrown).toEqual(new Error("Claude Code returned an error result"));
    expect(seen.of("failed")).toHaveLength(1);
    expect(seen.of("started")).toHaveLength(1);
  });

  it("that cannot be started fails its run", async () => {
    const seen = observe();
    const query = (): never => {
      throw new Error("Native CLI binary not found");
    };
    expect(() => seen.agent.query(query, { prompt: "hi" })).toThrow("Native CLI binary not found");
    expect(seen.lines()).toEqual([
      "started claude",
      "failed unclassified: Native CLI binary not found",
    ]);
  });
});
