import { type Fields, fieldsOf, textOf } from "./narrow.ts";

/** Names of frameworks and gateways for providers that the GenAI conventions name differently. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["amazon_bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure_openai", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["google", "gcp.gemini"],
  ["google.vertex", "gcp.vertex_ai"],
  ["google_ai_studio", "gcp.gemini"],
  ["google_genai", "gcp.gemini"],
  ["google_vertex", "gcp.vertex_ai"],
  ["google_vertexai", "gcp.vertex_ai"],
  ["ibm", "ibm.watsonx.ai"],
  ["mistral", "mistral_ai"],
  ["mistralai", "mistral_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["watsonx", "ibm.watsonx.ai"],
  ["x_ai", "x_ai"],
  ["xai", "x_ai"],
]);

function wordOf(name: string): string {
  return name.toLowerCase().replaceAll(" ", "_").replaceAll("-", "_");
}

/** The provider that the conventions name differently. */
export function renamedProvider(name: string): string | undefined {
  return PROVIDERS.get(wordOf(name));
}

/** The conventions' name of an AI SDK provider, such as `google.vertex.chat` or `openai.responses`. */
export function aiSdkProvider(name: string | undefined): string | undefined {
  // The last part is an API, not a provider.
  const [first, second] = name?.split(".") ?? [];
  if (first === undefined) return undefined;
  return renamedProvider(`${first}.${second}`) ?? renamedProvider(first) ?? textOf(first);
}

/** Clients that reach models of many providers, because others speak OpenAI's protocol or are behind a gateway. */
const OPEN_CLIENTS: ReadonlySet<string> = new Set(["gateway", "litellm", "openai", "openrouter"]);

/** Families of models, which are the names up to the first `-`, and the provider whose models have them. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ["chatgpt", "openai"],
  ["claude", "anthropic"],
  ["codestral", "mistral_ai"],
  ["command", "cohere"],
  ["deepseek", "deepseek"],
  ["gemini", "gcp.gemini"],
  ["gpt", "openai"],
  ["grok", "x_ai"],
  ["magistral", "mistral_ai"],
  ["ministral", "mistral_ai"],
  ["mistral", "mistral_ai"],
  ["pixtral", "mistral_ai"],
]);

/** `o1`, `o3-mini`, … */
const OPENAI_REASONING = /^o\d/;

const VENDORS: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic"],
  ["cohere", "cohere"],
  ["deepseek", "deepseek"],
  ["google", "gcp.gemini"],
  ["mistralai", "mistral_ai"],
  ["openai", "openai"],
  ["x-ai", "x_ai"],
  ["xai", "x_ai"],
]);

/** The provider of a model, from its name, such as `anthropic/claude-sonnet-4` or `claude-sonnet-4`. */
function vendorOf(model: string | undefined): string | undefined {
  const name = model?.toLowerCase() ?? "";
  const slash = name.indexOf("/");
  if (slash > 0) return VENDORS.get(name.slice(0, slash));
  const vendor = FAMILIES.get(name.slice(0, Math.max(0, name.indexOf("-"))));
  return vendor ?? (OPENAI_REASONING.test(name) ? "openai" : undefined);
}

/** Data of an answer that may name its provider. */
export interface AnswerNames {
  readonly responseModel: string | undefined;
  /** The provider that a gateway says it asked. */
  readonly routed?: string | undefined;
  /** The provider of the client that got the answer. */
  readonly client?: string | undefined;
}

/**
 * The provider that answered, if the request names another one: after a fallback, or through a gateway.
 *
 * @param asked of the request, as the conventions name it.
 */
export function answeredBy(
  asked: string | undefined,
  { client, responseModel, routed }: AnswerNames,
): string | undefined {
  if (routed !== undefined) return otherThan(asked, renamedProvider(routed) ?? wordOf(routed));
  const known = client === undefined ? undefined : (renamedProvider(client) ?? client);
  const ofClient = otherThan(asked, known);
  if (!isOpen(ofClient ?? asked)) return ofClient;
  const vendor = vendorOf(responseModel);
  // Clients of other providers are often built on OpenAI's.
  const other = known === "openai" && vendor !== "openai" ? undefined : ofClient;
  const by = other ?? asked;
  return isOpen(by) ? (otherThan(by, vendor) ?? other) : other;
}

function isOpen(provider: string | undefined): boolean {
  return provider !== undefined && OPEN_CLIENTS.has(provider);
}

/** The second provider, unless both are products of one company. */
function otherThan(asked: string | undefined, by: string | undefined): string | undefined {
  return by === undefined || (asked !== undefined && companyOf(asked) === companyOf(by))
    ? undefined
    : by;
}

function companyOf(provider: string): string {
  if (provider.startsWith("gcp.")) return "google";
  return provider.startsWith("azure.") ? "openai" : provider;
}

/** The provider in the data of a gateway: OpenRouter's response, or metadata that the AI SDK passes on. */
export function routedIn(answer: Fields | undefined, metadata?: unknown): string | undefined {
  const of = fieldsOf(metadata);
  const routing = fieldsOf(fieldsOf(of?.gateway)?.routing);
  return (
    textOf(answer?.provider) ??
    textOf(routing?.finalProvider) ??
    textOf(routing?.resolvedProvider) ??
    textOf(fieldsOf(of?.openrouter)?.provider)
  );
}
