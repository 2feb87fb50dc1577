import { hasName, isArray, listProperty, property, textProperty } from "./thrown.ts";

const MAX_ISSUES = 8;
const MAX_PLACE_CHARS = 64;
const MAX_RULE_CHARS = 128;
const MAX_PATH = 16;

const NAMES = new Set([
  "ZodError",
  "$ZodError",
  "ValiError",
  "ValidationError",
  "TraversalError",
  "SchemaError",
  "AI_TypeValidationError",
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_InvalidToolInputError",
]);

/** Where the libraries keep their issues: Standard Schema, ajv, joi, yup, arktype. */
const LISTS = ["issues", "errors", "details", "inner", "arkErrors"];

/**
 * What a schema library's error says, or `undefined` when it is none: where each issue is, and what
 * was expected there.
 *
 * The model is shown this text, so it is made from the schema's side of an issue only: the messages
 * of valibot, and of the AI SDK, quote the rejected value, which may be a vendor's text or a secret.
 */
export function validationMessage(thrown: unknown): string | undefined {
  if (!hasName(thrown, NAMES) && !hasIssues(thrown)) return undefined;
  const issues = issuesOf(thrown) ?? issuesOf(property(thrown, "cause")) ?? [];
  const texts = issues.map(issueText);
  return texts.length === 0 ? "value does not match its schema" : texts.join("; ");
}

function hasIssues(thrown: unknown): boolean {
  const [issue] = listProperty(thrown, "issues", 1);
  if (typeof property(issue, "message") === "string") return true;
  const [error] = listProperty(thrown, "errors", 1);
  return (
    textProperty(error, "keyword") !== undefined && textProperty(error, "schemaPath") !== undefined
  );
}

function issuesOf(thrown: unknown): readonly unknown[] | undefined {
  for (const key of LISTS) {
    // Yup's `errors` are its messages, which quote the value; what is wrong stands in `inner`.
    const issues = listProperty(thrown, key, MAX_ISSUES).filter(isIssue);
    if (issues.length > 0) return issues;
  }
  return isLoneIssue(thrown) ? [thrown] : undefined;
}

function isIssue(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Yup stops at the first issue, unless told otherwise: its error then is the issue itself. */
function isLoneIssue(thrown: unknown): boolean {
  return isArray(property(thrown, "inner")) && textProperty(thrown, "type") !== undefined;
}

function issueText(issue: unknown): string {
  return `${placeOf(issue)}: ${ruleOf(issue).slice(0, MAX_RULE_CHARS)}`;
}

function placeOf(issue: unknown): string {
  const path = listProperty(issue, "path", MAX_PATH)
    .map((step) => property(step, "key") ?? step)
    .filter((step) => typeof step === "string" || typeof step === "number")
    .join(".");
  const pointer = textProperty(issue, "path") ?? textProperty(issue, "instancePath") ?? "";
  const place = path === "" ? pointer : path;
  return place === "" ? "(root)" : place.slice(0, MAX_PLACE_CHARS);
}

function ruleOf(issue: unknown): string {
  const expected = textProperty(issue, "expected");
  if (expected !== undefined) return `expected ${expected}`;
  // Only ajv has keywords; its messages are built from the schema alone.
  const keyword = textProperty(issue, "keyword");
  if (keyword !== undefined) return textProperty(issue, "message") ?? keyword;
  const rule = textProperty(issue, "code") ?? textProperty(issue, "type") ?? "invalid";
  const bound =
    property(issue, "minimum") ?? property(issue, "maximum") ?? property(issue, "format");
  return typeof bound === "string" || typeof bound === "number" ? `${rule} (${bound})` : rule;
}
