// The frameworks, and what their users would choose instead of this package: name of the side to the name in tables and
// the package whose version is shown.

const OPENINFERENCE = "@arizeai/openinference-instrumentation";

export const FRAMEWORKS = {
  "ai-sdk": {
    title: "AI SDK",
    isNewer: true,
    peers: {
      own: ["@ai-sdk/otel", "@ai-sdk/otel"],
      langfuse: ["Langfuse", "@langfuse/vercel-ai-sdk"],
    },
  },
  "openai-agents": {
    title: "OpenAI Agents",
    peers: {
      openinference: ["OpenInference", `${OPENINFERENCE}-openai-agents`],
      langfuse: ["OpenInference and Langfuse's exporter", "@langfuse/otel"],
    },
  },
  langgraph: {
    title: "LangGraph",
    peers: {
      openinference: ["OpenInference", `${OPENINFERENCE}-langchain`],
      langfuse: ["Langfuse", "@langfuse/langchain"],
      traceloop: ["Traceloop", "@traceloop/instrumentation-langchain"],
    },
  },
  "claude-agent": {
    title: "Claude Agent SDK",
    peers: {
      openinference: ["OpenInference", `${OPENINFERENCE}-claude-agent-sdk`],
      langfuse: ["OpenInference and Langfuse's exporter", "@langfuse/otel"],
    },
  },
  mastra: {
    title: "Mastra",
    isNewer: true,
    peers: {
      own: ["@mastra/otel-exporter", "@mastra/otel-exporter"],
      bridge: ["@mastra/otel-bridge", "@mastra/otel-bridge"],
      openinference: ["@mastra/arize", "@mastra/arize"],
      langfuse: ["@mastra/langfuse", "@mastra/langfuse"],
    },
  },
};

/** The sides of this package. */
export const OURS = {
  ours: "ours",
  "no content": "ours, content off",
  "new messages": 'ours, `messages: "new"`',
  before: "before",
  control: "ours again (control)",
};
