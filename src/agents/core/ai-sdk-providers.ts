/** The AI SDK's names of providers, where the GenAI conventions have another one. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure-openai", "azure.ai.openai"],
  ["google", "gcp.gemini"],
  ["google.vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

/** A provider of the AI SDK, such as `google.vertex.chat` or `openai.responses`, as the conventions name it. */
export function aiSdkProvider(name: string | undefined): string | undefined {
  // What comes last is an API.
  const [first, second] = name?.split(".") ?? [];
  return PROVIDERS.get(`${first}.${second}`) ?? (first && (PROVIDERS.get(first) ?? first));
}
