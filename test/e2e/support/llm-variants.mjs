// Plays an agent once for each value of the option `conventions`, and once without content. The conversations are named
// FRAMEWORK/VARIANT/1, which answers though a tool fails, and FRAMEWORK/VARIANT/2, whose model call fails.
import { setupTracing } from "entelix-otel/setup";

export const INSTRUCTIONS = "You help with orders.";
export const USER = "user-7";
const QUESTIONS = ["Refund order 17.", "Please break order 17."];

/** What `look_up` finds. */
export const found = (order) => ({ order, state: "delivered" });

export const fails = async () => {
  throw new RangeError("the payment gateway is away");
};

/** @param play gets the bridge; answers with the function that asks a question in a conversation. */
export async function eachVariant(framework, play) {
  for (const variant of ["genai", "openinference", "both", "without"]) {
    const tracing = setupTracing({
      serviceName: "llm-agents",
      conventions: variant === "without" ? "both" : variant,
      register: false,
      shutdownTimeoutMs: 180_000,
    });
    const { ask, flush } = await play(
      tracing.createBridge({ captureContent: variant !== "without" }),
    );
    for (const [at, question] of QUESTIONS.entries()) {
      await ask(question, `${framework}/${variant}/${at + 1}`).catch(() => undefined);
    }
    await flush();
    await tracing.shutdown();
  }
}
