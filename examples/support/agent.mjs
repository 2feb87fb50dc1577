// The agent: LangChain's `createAgent` with its own middleware. Nothing here knows of telemetry.
import { Document } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import {
  createAgent,
  humanInTheLoopMiddleware,
  modelRetryMiddleware,
  toolCallLimitMiddleware,
  toolErrorMiddleware,
  toolRetryMiddleware,
} from "langchain";
import { z } from "zod";
import * as shop from "./shop.mjs";

/** US dollars for a million tokens. */
const PRICES = {
  "demo-large": { input: 1.25, output: 10 },
  "demo-mini": { input: 0.15, output: 0.6 },
};

/** The cost of a model call in US dollars. */
export function price({ model, usage }) {
  const each = PRICES[model];
  if (each === undefined) return undefined;
  const { input_tokens = 0, output_tokens = 0 } = usage;
  return (Number(input_tokens) * each.input + Number(output_tokens) * each.output) / 1e6;
}

/** @param modelUrl of a server that speaks OpenAI's Chat Completions. */
export function supportAgent(modelUrl, pace) {
  const model = (name) =>
    new ChatOpenAI({
      model: name,
      apiKey: "none",
      temperature: 0,
      // The middleware retries, so that each attempt is a call of its own.
      maxRetries: 0,
      configuration: { baseURL: modelUrl },
    });
  /** A tool that takes a moment, as a call of another system does. */
  const slow = (name, description, schema, work, ms) =>
    tool(
      async (input) => {
        await pace.wait(ms);
        return JSON.stringify(await work(input));
      },
      { name, description, schema: z.object(schema) },
    );

  const helpPages = new HelpPages();
  const searchHelp = tool(
    async ({ query }) => {
      const pages = await helpPages.invoke(query);
      return pages
        .map(({ metadata, pageContent }) => `${metadata.title}: ${pageContent}`)
        .join("\n");
    },
    { name: "search_help", description: "Searches the help pages.", schema: z.object(QUERY) },
  );

  const returnsDesk = createAgent({
    name: "returns-desk",
    model: model("demo-mini"),
    tools: [searchHelp],
    systemPrompt: "You decide whether a return is possible. Answer in one sentence, with the rule.",
  });
  const askReturnsDesk = tool(
    async ({ question }) => {
      const { messages } = await returnsDesk.invoke({
        messages: [{ role: "user", content: question }],
      });
      return messages.at(-1).text;
    },
    {
      name: "ask_returns_desk",
      description: "Asks the agent that knows the rules of returns.",
      schema: z.object({ question: z.string() }),
    },
  );

  return createAgent({
    name: "support",
    model: model("demo-large"),
    systemPrompt:
      "You are the support agent of a shop. Look things up before you answer. Be brief and friendly. " +
      "Refunds need the approval of a person.",
    tools: [
      searchHelp,
      askReturnsDesk,
      slow("look_up_order", "An order by its number.", ORDER, shop.lookUpOrder, 180),
      slow("list_payments", "The payments of an order.", ORDER, shop.listPayments, 240),
      slow("refund", "Pays money back.", { ...ORDER, euros: z.number() }, shop.refund, 620),
      slow("repair_status", "How far a repair is.", { repair: z.string() }, shop.repairStatus, 150),
      slow("get_invoice", "An invoice as a file.", { invoice: z.number() }, shop.getInvoice, 210),
      slow("send_mail", "Sends a mail.", { to: z.string(), file: z.string() }, shop.sendMail, 330),
    ],
    middleware: [
      humanInTheLoopMiddleware({
        interruptOn: {
          refund: {
            allowedDecisions: ["approve", "edit", "reject"],
            description: ({ args }) =>
              `Refund ${args.euros.toFixed(2)} EUR for order ${args.order}?`,
          },
        },
      }),
      modelRetryMiddleware({
        retryOn: ({ status }) => status === 429,
        initialDelayMs: pace.msOf(2_000),
        jitter: false,
        onFailure: "error",
      }),
      // The model is told of errors that it can do something about. An expired key ends the run.
      toolErrorMiddleware({
        onError: ({ message, status }) => (status === 401 ? undefined : `Error: ${message}`),
      }),
      // A refund that was not paid is tried once more.
      toolRetryMiddleware({
        tools: ["refund"],
        retryOn: ({ status }) => status === 503,
        maxRetries: 1,
        initialDelayMs: pace.msOf(1_000),
        jitter: false,
        onFailure: "error",
      }),
      // A run that repeats a call must end.
      toolCallLimitMiddleware({ toolName: "repair_status", runLimit: 8, exitBehavior: "error" }),
    ],
    checkpointer: new MemorySaver(),
  });
}

const ORDER = { order: z.number() };
const QUERY = { query: z.string() };

/** Finds the help page with most words of the query. */
class HelpPages extends BaseRetriever {
  lc_namespace = ["example"];

  static lc_name() {
    return "HelpPages";
  }

  async _getRelevantDocuments(query) {
    const words = query.toLowerCase().split(/\W+/);
    const hits = ({ text, title }) => {
      const page = `${title} ${text}`.toLowerCase();
      return words.filter((word) => page.includes(word)).length;
    };
    const [best] = shop.HELP_PAGES.toSorted((one, other) => hits(other) - hits(one));
    return [new Document({ pageContent: best.text, metadata: { title: best.title } })];
  }
}
