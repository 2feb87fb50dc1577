import { answerWith, sdk } from "./claude-agent-sdk.mjs";
import { sessionOf } from "./claude-agent-session.mjs";
import { AGENT, MODEL, SYSTEM } from "./payload.mjs";

/** Reads a query to its end, as an application does. */
async function play(query = sdk.query, { question, steps }) {
  answerWith(question, steps);
  const options = { agent: AGENT, model: MODEL, systemPrompt: SYSTEM };
  for await (const message of query({ prompt: question, options })) last = message;
}

/** What the application makes of a message. */
export let last;

export const WORKLOADS = {
  query: { prepare: sessionOf, play, framework: true },
};
