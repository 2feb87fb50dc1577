// Plays the scenarios of the comparison with the OpenAI Agents SDK that is installed beside it.
import {
  Agent,
  createResponseSpan,
  Runner,
  RunState,
  resetCurrentSpan,
  run,
  setCurrentSpan,
  setDefaultModelProvider,
  setTraceProcessors,
  setTracingDisabled,
  tool,
  withFunctionSpan,
} from "@openai/agents-core";
import { OpenAIAgentsProcessor } from "entelix-otel/openai-agents";
import { z } from "zod";
import { forever, raceFree, settled } from "./adapters-scenes.mjs";
import { asks, ScriptedModel, says } from "./openai-agents-model.mjs";
import { failsTheSecondTime, playSame, pressedStop } from "./same-scenarios.mjs";

const ASKS = [asks("look", "c1")];
const DONE = [says("done")];

/** Says one word after the other, and traces as the models of `@openai/agents-openai` do. */
class TalkingModel extends ScriptedModel {
  async *getStreamedResponse({ input, signal }) {
    const span = createResponseSpan();
    span.start();
    span.spanData._input = input;
    setCurrentSpan(span);
    try {
      yield { type: "response_started" };
      for (let words = 0; words < 10_000; words += 1) {
        yield { type: "output_text_delta", delta: "one " };
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
      }
    } catch (error) {
      span.setError({ message: "Error streaming response", data: { error: String(error) } });
      throw error;
    } finally {
      span.end();
      resetCurrentSpan();
    }
  }
}

const agent = (name, script, tools = [], more = {}) =>
  new Agent({ name, model: new ScriptedModel(script), tools, ...more });

const plain = (execute, more = {}, name = "look") =>
  tool({ name, description: name, parameters: z.object({}), execute, ...more });

const look = plain(async () => "seen");
const boom = async () => {
  throw new RangeError("out of order");
};
const unavailable = () => Object.assign(new Error("overloaded"), { status: 503 });

/** The model fails as often as it is said to, and the SDK asks it again once. */
const retrying = (...script) =>
  agent("support", script, [], {
    modelSettings: {
      retry: { maxRetries: 1, policy: () => true, backoff: { initialDelayMs: 1, maxDelayMs: 1 } },
    },
  });

const pay = plain(async () => "paid", { needsApproval: true }, "pay");
const payer = () => agent("support", [[asks("pay", "c1")], DONE], [pay]);

async function paused(support, runner = new Runner()) {
  const { interruptions, state } = await runner.run(support, "pay 17");
  return { interruption: interruptions[0], state };
}

/** The tool stops its run. */
const stopsIn = (reason) => () => {
  const controller = new AbortController();
  const wait = plain((_input, _context, details) => {
    setImmediate(() => controller.abort(reason));
    // The oldest version gives a tool no signal.
    return details?.signal === undefined ? settled() : forever(details.signal);
  });
  const goesOn = ({ signal }) => {
    signal.throwIfAborted();
    return DONE;
  };
  const { signal } = controller;
  return run(agent("support", [ASKS, goesOn], [wait]), "go", { signal });
};

const scenarios = {
  success: () => run(agent("support", [ASKS, DONE], [look]), "go"),
  "parallel tools": () => {
    const both = raceFree(2);
    const script = [[asks("look", "c1"), asks("look", "c2")], DONE];
    return run(agent("support", script, [plain(both)]), "go");
  },
  "tool failure that the model reads": () =>
    run(agent("support", [ASKS, DONE], [plain(boom)]), "go"),
  "tool failure that ends the run": () =>
    run(agent("support", [ASKS], [plain(boom, { errorFunction: null })]), "go"),
  "model failure after a retry": () => run(retrying(unavailable(), unavailable()), "go"),
  "answer after a retry": () => run(retrying(unavailable(), DONE), "go"),
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
  "timeout in the model": () =>
    run(agent("support", [({ signal }) => forever(signal)]), "go", {
      signal: AbortSignal.timeout(20),
    }),
  async "stream whose reader leaves"() {
    const controller = new AbortController();
    const talks = new Agent({ name: "support", model: new TalkingModel([]) });
    const stream = await run(talks, "go", { stream: true, signal: controller.signal });
    for await (const _ of stream) break;
    controller.abort();
    await stream.completed.catch(() => {});
    await settled();
  },
  "answer cut by length": () => {
    const response = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    return run(agent("support", [{ output: [says("do")], response }]), "go");
  },
  refusal: () => {
    const refuses = { ...says(""), content: [{ type: "refusal", refusal: "no" }] };
    return run(agent("support", [[refuses]]), "go");
  },
  fallback: () => run(agent("support", [{ output: DONE, response: { model: "small-2" } }]), "go"),
  "failure after an answer": () => run(agent("support", [ASKS, unavailable()], [look]), "go"),
  "call that never ran": () =>
    run(agent("support", [[asks("none", "c1")], DONE], [look]), "go", {
      toolNotFoundBehavior: "return_error_to_model",
    }),
  "calls inside a call": () => {
    const calls = plain(async () => {
      await withFunctionSpan(async () => "seen", { data: { name: "look", input: "{}" } });
      await new ScriptedModel([DONE]).getResponse({ input: "hi", tracing: true });
      return "seen";
    });
    return run(agent("support", [ASKS, DONE], [calls]), "go");
  },
  "one ID twice": () => {
    const fails = plain(failsTheSecondTime());
    const script = [[asks("look", "c1"), asks("look", "c1")], DONE];
    return run(agent("support", script, [fails]), "go");
  },
  "agent in a tool": () => {
    const expert = agent("expert", [ASKS, DONE], [look]);
    const ask = expert.asTool({ toolName: "look", toolDescription: "asks" });
    const script = [[asks("look", "c1", { input: "where?" })], DONE];
    return run(agent("support", script, [ask]), "go");
  },
  async "pause, approved"({ processor }) {
    const support = payer();
    const { interruption, state } = await paused(support);
    state.approve(interruption);
    processor.noteResult(await run(support, state));
  },
  async "pause, denied"({ processor }) {
    const support = payer();
    const { interruption, state } = await paused(support);
    state.reject(interruption, { message: "not today" });
    processor.noteResult(await run(support, state));
  },
  async "pause, approved in another process"({ processor }, open) {
    const support = payer();
    const { state } = await paused(support);
    const text = JSON.stringify(state);
    await processor.forceFlush();
    const other = await open();
    const read = other.processor.noteState(await RunState.fromString(support, text));
    for (const item of read.getInterruptions()) read.approve(item);
    await run(support, read);
  },
  async "resumption of a user's run"({ processor }) {
    const support = payer();
    const runner = new Runner({ traceMetadata: { user: "u1" } });
    const { interruption, state } = await paused(support, runner);
    state.approve(interruption);
    processor.noteResult(await run(support, state));
  },
  "two tenants at once": () => {
    const both = raceFree(2);
    return Promise.all(
      ["acme", "globex"].map((tenant_id) =>
        new Runner({ traceMetadata: { tenant_id } }).run(
          agent("support", [ASKS, DONE], [plain(both)]),
          "go",
        ),
      ),
    );
  },
};

setDefaultModelProvider({ getModel: () => new ScriptedModel([]) });

await playSame({
  scenarios,
  begin(sink, onError) {
    const context = ({ metadata: { user } = {} }) => (user === undefined ? undefined : { user });
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", context, onError });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    return { processor, flush: () => processor.forceFlush() };
  },
});
