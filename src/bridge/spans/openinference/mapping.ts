import type { Attributes, AttributeValue } from "@opentelemetry/api";
import { messageAttributes, messagesIn, readableText, textsOf } from "./messages.ts";
import { isFields, jsonIn, textIn } from "./values.ts";

/** The attributes of a finished span under OpenInference's names. */
export interface OpenInference {
  readonly attributes: Attributes;
  /** The `gen_ai.*` names whose values these attributes have, too. */
  readonly covered: ReadonlySet<string>;
}

/** Most attributes of a span: the SDK's default limit is 128, and a few may follow. */
const MOST = 120;

const KINDS: ReadonlyMap<unknown, string> = new Map([
  ["invoke_agent", "AGENT"],
  ["invoke_workflow", "CHAIN"],
  ["execute_tool", "TOOL"],
  ["chat", "LLM"],
  ["embeddings", "EMBEDDING"],
  ["retrieval", "RETRIEVER"],
]);

/** `openinference.span.kind` of a span. Steps and markers are chains. */
export function spanKindOf(attributes: Attributes): string {
  return KINDS.get(attributes["gen_ai.operation.name"]) ?? "CHAIN";
}

/** OpenInference's provider, where it has another name than the conventions'. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["aws.bedrock", "aws"],
  ["azure.ai.inference", "azure"],
  ["azure.ai.openai", "azure"],
  ["gcp.gemini", "google"],
  ["gcp.vertex_ai", "google"],
  ["mistral_ai", "mistralai"],
  ["x_ai", "xai"],
]);

const REQUEST = "gen_ai.request.";
const METADATA = "entelix.run.metadata.";

/** Attributes of model calls that only change their name. */
const MODEL_NAMES: readonly (readonly [from: string, to: string])[] = [
  ["gen_ai.request.model", "llm.request.model_name"],
  ["gen_ai.response.model", "llm.response.model_name"],
  ["gen_ai.usage.input_tokens", "llm.token_count.prompt"],
  ["gen_ai.usage.output_tokens", "llm.token_count.completion"],
  ["gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"],
  ["gen_ai.usage.cache_write.input_tokens", "llm.token_count.prompt_details.cache_write"],
  ["gen_ai.usage.cache_creation.input_tokens", "llm.token_count.prompt_details.cache_write"],
  ["gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"],
];

/**
 * The names of OpenInference for a finished span, from its attributes alone, so that only content that the content
 * policy let pass is in them.
 *
 * Tokens stand on model calls only: Phoenix and Arize add up those of all spans of a trace.
 */
export function openInferenceOf(finished: Attributes): OpenInference {
  const mapping = new Mapping(finished);
  const kind = spanKindOf(finished);
  mapping.add("openinference.span.kind", kind, "gen_ai.operation.name");
  mapping.addSubject();
  switch (kind) {
    case "LLM":
    case "EMBEDDING":
      mapping.addModel(kind === "LLM");
      break;
    case "TOOL":
      mapping.addTool();
      break;
    case "RETRIEVER":
      mapping.addRetrieval();
      break;
    default:
      mapping.addRun();
  }
  return mapping;
}

class Mapping implements OpenInference {
  readonly attributes: Attributes = {};
  readonly covered = new Set<string>();
  readonly #from: Attributes;
  /** JSON of attributes, parsed once: messages can be long. */
  readonly #parsed = new Map<string, object | undefined>();

  constructor(from: Attributes) {
    this.#from = from;
  }

  /** @param covers the name whose value this is. */
  add(name: string, value: AttributeValue | undefined, covers?: string): void {
    if (value === undefined) return;
    this.attributes[name] = value;
    if (covers !== undefined) this.covered.add(covers);
  }

  rename(from: string, to: string): void {
    this.add(to, this.#from[from], from);
  }

  /** Agent, session, tags and metadata. `user.id` has the same name in both. */
  addSubject(): void {
    this.rename("gen_ai.agent.name", "agent.name");
    // A conversation is what OpenInference calls a session.
    if (this.#from["session.id"] === undefined) this.rename("gen_ai.conversation.id", "session.id");
    this.rename("entelix.run.tags", "tag.tags");
    const metadata = Object.entries(this.#from)
      .filter(([name]) => name.startsWith(METADATA))
      .map(([name, value]) => [name.slice(METADATA.length), value]);
    if (metadata.length > 0) this.add("metadata", JSON.stringify(Object.fromEntries(metadata)));
  }

  addRun(): void {
    this.rename("entelix.step.name", "graph.node.id");
    this.#addReadable("input", "gen_ai.input.messages", "user");
    this.#addReadable("output", "gen_ai.output.messages", "assistant");
  }

  addTool(): void {
    this.rename("gen_ai.tool.name", "tool.name");
    this.rename("gen_ai.tool.description", "tool.description");
    this.rename("gen_ai.tool.call.id", "tool.id");
    this.covered.add("gen_ai.tool.type");
    this.#addValue("input", "gen_ai.tool.call.arguments");
    this.#addValue("output", "gen_ai.tool.call.result");
  }

  addRetrieval(): void {
    this.#addValue("input", "gen_ai.retrieval.query.text");
    this.#addValue("output", "gen_ai.retrieval.documents");
    const documents = this.#json("gen_ai.retrieval.documents");
    if (!Array.isArray(documents)) return;
    for (const [at, document] of documents.entries()) {
      if (this.#room() < 4) break;
      this.#addDocument(`retrieval.documents.${at}.document`, document);
    }
  }

  addModel(isChat: boolean): void {
    const from = this.#from;
    const model = textIn(from["gen_ai.response.model"]) ?? textIn(from["gen_ai.request.model"]);
    this.add(isChat ? "llm.model_name" : "embedding.model_name", model);
    for (const [name, to] of MODEL_NAMES) this.rename(name, to);
    const provider = textIn(from["gen_ai.provider.name"]);
    this.add("llm.system", provider, "gen_ai.provider.name");
    if (provider !== undefined) this.add("llm.provider", PROVIDERS.get(provider) ?? provider);
    if (provider !== undefined) this.covered.add("gen_ai.system");
    const reasons = from["gen_ai.response.finish_reasons"];
    if (Array.isArray(reasons)) {
      this.add("llm.finish_reason", textIn(reasons[0]), "gen_ai.response.finish_reasons");
    }
    this.#addTotals();
    this.#addParameters(isChat ? "llm" : "embedding");
    this.#addValue("input", "gen_ai.input.messages", this.#instructions());
    this.#addValue("output", "gen_ai.output.messages");
    if (isChat) this.#addConversation();
    else this.#addEmbedded();
  }

  #addTotals(): void {
    const input = this.#from["gen_ai.usage.input_tokens"];
    const output = this.#from["gen_ai.usage.output_tokens"];
    if (typeof input === "number" || typeof output === "number") {
      this.add("llm.token_count.total", Number(input ?? 0) + Number(output ?? 0));
    }
    const cost = textIn(this.#from["entelix.model.cost"]);
    if (cost !== undefined) this.add("llm.cost.total", Number(cost));
  }

  /** The parameters of the request, as one JSON object. */
  #addParameters(of: "llm" | "embedding"): void {
    const parameters: Attributes = {};
    for (const [name, value] of Object.entries(this.#from)) {
      if (!name.startsWith(REQUEST) || name === "gen_ai.request.model") continue;
      parameters[name.slice(REQUEST.length)] = value;
      this.covered.add(name);
    }
    if (Object.keys(parameters).length === 0) return;
    this.add(`${of}.invocation_parameters`, JSON.stringify(parameters));
  }

  /** The texts that were embedded. */
  #addEmbedded(): void {
    const texts = textsOf(messagesIn(this.#json("gen_ai.input.messages")));
    for (const [at, text] of texts.slice(0, this.#room()).entries()) {
      this.add(`embedding.embeddings.${at}.embedding.text`, text);
    }
  }

  /** Messages and tools, each part an attribute of its own. Those of long conversations are only in the values. */
  #addConversation(): void {
    const output = messagesIn(this.#json("gen_ai.output.messages"));
    this.#addAll(messageAttributes("llm.output_messages", output, this.#room()));
    const tools = this.#json("gen_ai.tool.definitions");
    if (Array.isArray(tools)) {
      const some = tools.slice(0, Math.floor(this.#room() / 3));
      for (const [at, tool] of some.entries()) {
        this.add(`llm.tools.${at}.tool.json_schema`, JSON.stringify(tool));
      }
      if (some.length === tools.length) this.covered.add("gen_ai.tool.definitions");
    }
    const system = this.#json("gen_ai.system_instructions");
    const first = Array.isArray(system) ? [{ role: "system", parts: system }] : [];
    const asked = [...first, ...messagesIn(this.#json("gen_ai.input.messages"))];
    const input = messageAttributes("llm.input_messages", asked, this.#room());
    this.#addAll(input);
    if (first.length > 0 && input["llm.input_messages.0.message.role"] === "system") {
      this.covered.add("gen_ai.system_instructions");
    }
  }

  #addDocument(prefix: string, document: unknown): void {
    if (!isFields(document)) {
      this.add(`${prefix}.content`, textIn(document) ?? JSON.stringify(document));
      return;
    }
    const { content, id, metadata, pageContent, score, text } = document;
    const shown = textIn(content) ?? textIn(pageContent) ?? textIn(text);
    this.add(`${prefix}.content`, shown ?? JSON.stringify(document));
    this.add(`${prefix}.id`, textIn(id));
    if (typeof score === "number") this.add(`${prefix}.score`, score);
    if (isFields(metadata)) this.add(`${prefix}.metadata`, JSON.stringify(metadata));
  }

  /** The system instructions as JSON of a message. */
  #instructions(): string | undefined {
    const name = "gen_ai.system_instructions";
    const parts = textIn(this.#from[name]);
    return Array.isArray(this.#json(name)) ? `{"role":"system","parts":${parts}}` : undefined;
  }

  /**
   * The whole value, as JSON or text.
   *
   * @param first JSON of a message that stands before the others.
   */
  #addValue(side: "input" | "output", name: string, first?: string): void {
    const value = textIn(this.#from[name]);
    if (value === undefined) return;
    const parsed = this.#json(name);
    const isJson = parsed !== undefined;
    const isMessages = Array.isArray(parsed) && parsed.length > 0;
    const joins = first !== undefined && isMessages && messagesIn(parsed).length === parsed.length;
    // The other messages can be long, so their JSON is not written again.
    this.add(`${side}.value`, joins ? `[${first},${value.slice(1)}` : value, name);
    this.add(`${side}.mime_type`, isJson ? "application/json" : "text/plain");
  }

  /** The text that a list of runs shows: what the last message of this role says. */
  #addReadable(side: "input" | "output", name: string, role: string): void {
    const text = readableText(messagesIn(this.#json(name)), role);
    if (text === undefined) {
      this.#addValue(side, name);
      return;
    }
    this.add(`${side}.value`, text.text, text.isWhole ? name : undefined);
    this.add(`${side}.mime_type`, "text/plain");
  }

  #json(name: string): object | undefined {
    if (this.#parsed.has(name)) return this.#parsed.get(name);
    const parsed = jsonIn(this.#from[name]);
    this.#parsed.set(name, parsed);
    return parsed;
  }

  #addAll(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) this.add(name, value);
  }

  /** How many further attributes the span can have. */
  #room(): number {
    const taken = Object.keys(this.#from).length + Object.keys(this.attributes).length;
    return Math.max(0, MOST - taken);
  }
}
