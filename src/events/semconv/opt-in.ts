/**
 * Whether spans and metrics have the conventions' earlier names beside the newest merged ones, as
 * `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup` asks. `gen_ai_latest_experimental`, and no value, mean the newest alone.
 */
export function hasEarlierNames(env: NodeJS.ProcessEnv = process.env): boolean {
  const chosen = (env.OTEL_SEMCONV_STABILITY_OPT_IN ?? "").split(",");
  return chosen.some((each) => each.trim().toLowerCase() === "gen_ai/dup");
}
