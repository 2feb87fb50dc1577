/**
 * The names whose price a call has: that of the model that answered, then that of the model that was asked for, unless
 * another model answered.
 */
export function namesOf(
  responseModel: string | undefined,
  model: string | undefined,
): readonly string[] {
  if (responseModel === undefined) return model === undefined ? [] : [model];
  if (model === undefined || model === responseModel) return [responseModel];
  const isOne = isLonger(responseModel, model) || isLonger(model, responseModel);
  return isOne ? [responseModel, model] : [responseModel];
}

/** Whether a name is another one with a provider or region before it, or a version after it. */
function isLonger(name: string, part: string): boolean {
  const at = name.indexOf(part);
  return at >= 0 && BEFORE.test(name.slice(0, at)) && AFTER.test(name.slice(at + part.length));
}

/** `eu.anthropic.`, `openai/` */
const BEFORE = /^$|[./]$/;
/** `-2024-07-18`, `-20250514-v1:0`, `@20250514`, `-v1:0`, `-latest` */
const AFTER = /^$|^[-@:](?:v?\d|latest$)/;
