// What can go wrong in an agent, once for all three programs of this folder. A case says what the model
// asks for and what the tools do; each program runs it in a loop of its own kind.
import { setTimeout as sleep } from "node:timers/promises";

/** As the client of a model provider throws it. */
class RateLimitError extends Error {
  status = 429;
  headers = new Headers({ "retry-after": "7" });
}
Object.defineProperty(RateLimitError, "name", { value: "RateLimitError" });

const throws = (make) => async () => {
  throw make();
};
const limited = () => new RateLimitError("429 slow down, key sk-1234");
const unavailable = () => Object.assign(new Error("503 from db-7.internal"), { status: 503 });
const unauthorized = () => Object.assign(new Error("401 from crm.internal"), { status: 401 });
const refused = () =>
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { code: "ECONNREFUSED" });

/** Ends when its signal fires, with what a `fetch` then throws. */
const hangs = async ({ signal }) => {
  await sleep(10_000, undefined, { signal });
};

/**
 * - `asks`: the tools that the model asks for in its first answer; its second one is the last.
 * - `tools`: what they do.
 * - `told`: whether a tool's error is told to the model. Else it ends the run.
 * - `model`: what the model throws in place of an answer.
 * - `ownCode`: what the agent's own code throws before anything else.
 * - `child`: a case that the tool `ask_expert` runs as a sub-agent.
 * - `cut`: who cuts the run off while its tools run.
 */
export const CASES = [
  { name: "the model's provider answers 429", model: limited },
  { name: "the agent's own database is not there", ownCode: refused },
  { name: "the agent's own service answers 401", ownCode: unauthorized },
  { name: "a tool's 503 ends the run", asks: ["query"], tools: { query: throws(unavailable) } },
  {
    name: "a tool's error has the reason as its cause",
    asks: ["query"],
    tools: { query: throws(() => new Error("step 2 failed", { cause: refused() })) },
  },
  {
    name: "a tool's error is one of several",
    asks: ["query"],
    tools: { query: throws(() => new AggregateError([new Error("a"), refused()], "all failed")) },
  },
  {
    name: "a tool's 429 is told to the model",
    told: true,
    asks: ["search"],
    tools: { search: throws(limited) },
  },
  {
    name: "a tool's own time limit is told to the model",
    told: true,
    asks: ["search"],
    tools: { search: () => hangs({ signal: AbortSignal.timeout(5) }) },
  },
  {
    name: "a result says that the call failed",
    told: true,
    asks: ["search"],
    tools: {
      search: async () => ({ isError: true, content: [{ type: "text", text: "no such index" }] }),
    },
  },
  {
    name: "a sub-agent's model fails, and that leaves through the tool",
    asks: ["ask_expert"],
    child: { model: limited },
  },
  {
    name: "a sub-agent's tool fails, and that leaves through the tool above",
    asks: ["ask_expert"],
    child: { asks: ["query"], tools: { query: throws(unavailable) } },
  },
  {
    name: "the user leaves while a tool runs",
    asks: ["query"],
    tools: { query: hangs },
    cut: "user",
  },
  {
    name: "the deadline is over while a tool runs",
    asks: ["query"],
    tools: { query: hangs },
    cut: "deadline",
  },
  {
    name: "a tool fails, and cuts its sibling off",
    asks: ["query", "search"],
    tools: { query: throws(unavailable), search: hangs },
  },
];
