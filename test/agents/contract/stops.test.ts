import { describe, expect, it } from "vitest";
import { mcpClient } from "../../../src/entries/mcp.ts";
import { type AgentRun, type RunOptions, runAgent } from "../../../src/entries/runtime.ts";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { STOP_REASONS, untilAborted } from "../../support/stops.ts";
import { keepingSink } from "../../support/told.ts";
import { Client, Pipe, played, Server } from "../mcp/peers.ts";
import { settled } from "./driver.ts";

// A stop by the user is no failure, whatever its reason is and wherever it surfaces. The stops of LangChain, the AI SDK
// and OpenAI Agents need their frameworks: they are tested beside the adapters.

setUnclassifiedWarning(() => {});

type Sink = ReturnType<typeof keepingSink>["sink"];

interface Place {
  /** Works until the signal fires. Calls `stop` when it is where the stop should find it. */
  readonly work: (sink: Sink, controller: AbortController, stop: () => void) => Promise<unknown>;
  readonly ends: readonly string[];
}

const MODEL = { provider: "acme" };

const inRun =
  (work: (run: AgentRun, listens: () => Promise<never>) => Promise<unknown>): Place["work"] =>
  (sink, { signal }, stop) => {
    const options: RunOptions<undefined> = { sink, agent: "support", tenant: "acme", signal };
    const listens = async () => {
      stop();
      return untilAborted(signal);
    };
    return runAgent(options, (run) => work(run, listens));
  };

const PLACES: Readonly<Record<string, Place>> = {
  "runAgent, before its first call": {
    work: (sink, controller, stop) => {
      stop();
      return inRun(async () => "done")(sink, controller, stop);
    },
    ends: ["failed cancelled"],
  },
  "runAgent, in code between calls": {
    work: inRun(async (_, listens) => listens()),
    ends: ["failed cancelled"],
  },
  "runAgent, in a model call": {
    work: inRun((run, listens) => run.model("small-1", MODEL, listens)),
    ends: ["model_error cancelled", "failed cancelled"],
  },
  "runAgent, in a tool": {
    work: inRun((run, listens) => run.tool("slow", {}, listens)),
    ends: ["tool_error cut", "failed cancelled"],
  },
  "runAgent, in a step": {
    work: inRun((run, listens) => run.step("slow", listens)),
    ends: ["step_error cut", "failed cancelled"],
  },
  "the MCP client, in a call of its own": {
    work: (sink, { signal }, stop) => {
      const client = mcpClient(new Client(), { sink, tenant: "acme" });
      return called(client, stop, signal);
    },
    ends: ["tool_error cut", "failed cancelled"],
  },
  "the MCP client, in a run": {
    work: (sink, { signal }, stop) => {
      const client = mcpClient(new Client(), { sink, tenant: "acme" });
      return runAgent({ sink, agent: "support", tenant: "acme", signal }, () =>
        called(client, stop, signal),
      );
    },
    ends: ["tool_error cut", "failed cancelled"],
  },
};

async function called(client: Client, stop: () => void, signal: AbortSignal) {
  const [near, far] = Pipe.pair();
  const server = new Server({
    slow: () => {
      stop();
      return new Promise(() => {});
    },
  });
  await server.connect(far);
  await client.open(near);
  return played(client.callTool({ name: "slow", arguments: {} }, undefined, { signal }));
}

/** The ends that are no success. A call or step that was stopped is cut: it did not fail. */
const badEnds = ({ sent }: ReturnType<typeof keepingSink>) =>
  sent.flatMap(({ event }) => {
    if (event.type === "tool_error" || event.type === "step_error") {
      return [`${event.type} ${event.envelope.cancelled === true ? "cut" : "failed"}`];
    }
    if (event.type !== "failed" && event.type !== "model_error") return [];
    return [`${event.type} ${event.kind?.type}`];
  });

describe.each(Object.entries(PLACES))("a stop of %s", (_, { ends, work }) => {
  it.each(STOP_REASONS)("with %s is cancelled, and no failure", async (_, reason) => {
    const kept = keepingSink("all");
    const controller = new AbortController();
    const { given } = await settled(work(kept.sink, controller, () => controller.abort(reason)));
    expect(given).toBeUndefined();
    expect(badEnds(kept)).toEqual(ends);
  });
});

describe("a failure beside a stop of runAgent", () => {
  const overloaded = () => Object.assign(new Error("overloaded"), { status: 529 });

  it("before it stays a failure", async () => {
    const kept = keepingSink("all");
    const controller = new AbortController();
    const work = inRun((run) =>
      run.model("small-1", MODEL, () => {
        throw overloaded();
      }),
    );
    await settled(work(kept.sink, controller, () => {}));
    controller.abort("gone");
    expect(badEnds(kept)).toEqual(["model_error model_dispatch", "failed model_dispatch"]);
  });

  it("does not end one of two calls that goes on, when the other was left", async () => {
    const kept = keepingSink("all");
    const left = new AbortController();
    const options = { sink: kept.sink, agent: "support", tenant: "acme" };
    await runAgent(options, async (run) => {
      const one = settled(run.tool("left", {}, () => untilAborted(left.signal)));
      const other = run.tool("stays", {}, async () => {
        left.abort(new DOMException("the other was quicker", "AbortError"));
        await one;
        return "done";
      });
      await Promise.all([one, other]);
    });
    expect(kept.ofType("tool_complete").map(({ tool }) => tool)).toEqual(["stays"]);
    expect(badEnds(kept)).toEqual(["tool_error cut"]);
    expect(kept.ofType("complete")).toHaveLength(1);
  });
});
