// node same-mcp.mjs MAJOR: plays the scenarios of the comparison whose tools are on a server of the Model Context
// Protocol. The agent is one of the runtime; the client reports the tool calls.
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { mcpClient } from "entelix-otel/mcp";
import { runAgent } from "entelix-otel/runtime";
import { forever, raceFree } from "./adapters-scenes.mjs";
import { sdk } from "./mcp-sdk.mjs";
import { shopServer } from "./mcp-tools.mjs";
import { playSame } from "./same-scenarios.mjs";

// For the context of the running code.
new NodeTracerProvider().register();
const kit = await sdk(process.argv[2]);

const model = (run) =>
  run.model("small-1", async (call) => {
    call.report({ usage: { input_tokens: 10, output_tokens: 5 } });
    return "";
  });

/** An agent that asks its model, calls the tools as `call` says, and asks the model again. */
async function agent({ onError, options }, look, calls, more = {}, name = "look") {
  const server = shopServer(kit, undefined, { look });
  const client = mcpClient(kit.client(), { onError });
  const [near, far] = kit.InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  const call = (signal) => kit.call(client, { name }, { signal });
  await runAgent({ ...options, ...more }, async (run) => {
    await model(run);
    await calls(() => call(run.signal), run);
    return model(run);
  });
}

const once = (call) => call();
const seen = async () => ({ content: [{ type: "text", text: "seen" }] });
const seenBy = (both) => async () => {
  await both();
  return seen();
};
const boom = async () => {
  throw new RangeError("out of order");
};

const scenarios = {
  success: (context) => agent(context, seen, once),
  "parallel tools": (context) =>
    agent(context, seenBy(raceFree(2)), (call) => Promise.all([call(), call()])),
  "tool failure that the model reads": (context) => agent(context, boom, once),
  "abort in a tool": (context) => {
    const controller = new AbortController();
    const wait = (_, extra) => {
      setImmediate(() => controller.abort());
      return forever((extra.mcpReq ?? extra).signal);
    };
    return agent(context, wait, once, { signal: controller.signal });
  },
  "stop with a reason": (context) => {
    const controller = new AbortController();
    const wait = (_, extra) => {
      setImmediate(() => controller.abort(new Error("the user pressed stop")));
      return forever((extra.mcpReq ?? extra).signal);
    };
    return agent(context, wait, once, { signal: controller.signal });
  },
  "call that never ran": (context) =>
    agent(context, seen, (call) => call().catch(() => {}), {}, "none"),
  "calls inside a call": (context) =>
    agent(context, seen, (call, run) =>
      run.tool("research", async () => {
        await call();
        await model(run);
      }),
    ),
  "two tenants at once": (context) => {
    const both = seenBy(raceFree(2));
    return Promise.all(["acme", "globex"].map((tenant) => agent(context, both, once, { tenant })));
  },
};

await playSame({
  scenarios,
  begin: (sink, onError) => ({
    onError,
    options: { sink, agent: "support", tenant: "acme", onError },
    flush: async () => {},
  }),
});
