// Asks the process of the Claude Agent SDK that is installed beside it, against a scripted Messages API.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { messagesApi } from "./claude-agent-messages-api.mjs";

/** What the process takes for its home. */
export const home = await mkdtemp(join(tmpdir(), "claude-agent-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

/** Reads a query to its end. @returns the messages. */
export async function ask(
  { agent },
  script,
  { details, env, follow, prompt = "hi", ...options } = {},
) {
  const api = await messagesApi(script);
  const messages = [];
  try {
    const stream = agent.query(
      query,
      {
        prompt,
        options: {
          cwd: home,
          env: {
            PATH: process.env.PATH,
            HOME: home,
            ANTHROPIC_BASE_URL: api.url,
            ANTHROPIC_API_KEY: "none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            ...env,
          },
          model: "claude-sonnet-4-5",
          settingSources: [],
          ...options,
        },
      },
      details,
    );
    for await (const message of stream) {
      messages.push(message);
      if ((await follow?.(message, stream)) === "leave") break;
    }
  } finally {
    api.close();
  }
  return messages;
}
