import { type SchemaTerms, termsOf } from "./own-schema.ts";
import { isSchemaWord } from "./schema-words.ts";
import { hasName, isArray, listProperty, property, textProperty } from "./thrown.ts";

const MAX_ISSUES = 8;
const MAX_SHOWN_PATH_CHARS = 64;
const MAX_PATH = 16;
const MAX_PATH_CHARS = 1_024;
/** A larger number may be data, such as an account or a card number. */
const MAX_INDEX = 999;

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
  // Messages of the application that do not fit together.
  "AI_InvalidDataContentError",
  "AI_InvalidMessageRoleError",
  "AI_InvalidToolApprovalError",
  "AI_InvalidToolApprovalSignatureError",
  "AI_MessageConversionError",
  "AI_MissingToolResultsError",
  "AI_ToolCallNotFoundForApprovalError",
]);

/** Fields with the libraries' issues: Standard Schema, ajv, joi, yup, arktype. */
const LISTS = ["issues", "errors", "details", "inner", "arkErrors"];

/**
 * The issues of a schema library's error, with their paths and expected values. `undefined` for any other value.
 *
 * The model sees this text, but the issues may come from any code, such as a vendor's. So the text only has words of
 * schema libraries, indexes, and names and numbers of the tool's own schema. Any other step of a path is `*`, because
 * it may be data.
 *
 * @param schema the schema of the tool's input. Default: unknown.
 */
export function validationMessage(thrown: unknown, schema?: unknown): string | undefined {
  if (!hasName(thrown, NAMES) && !hasIssues(thrown)) return undefined;
  const issues = issuesOf(thrown) ?? issuesOf(property(thrown, "cause")) ?? [];
  const terms = termsOf(schema);
  const texts = issues.map((issue) => `${pathTextOf(issue, terms)}: ${ruleOf(issue, terms)}`);
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
    // Yup's `errors` are messages, which quote the value. Its issues are in `inner`.
    const issues = listProperty(thrown, key, MAX_ISSUES).filter(isIssue);
    if (issues.length > 0) return issues;
  }
  return isLoneIssue(thrown) ? [thrown] : undefined;
}

function isIssue(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** By default, yup stops at the first issue. Then its error is the issue itself. */
function isLoneIssue(thrown: unknown): boolean {
  return isArray(property(thrown, "inner")) && textProperty(thrown, "type") !== undefined;
}

function pathTextOf(issue: unknown, { names }: SchemaTerms): string {
  const path = pathOf(issue).map((step) => (isIndex(step) || names.has(step) ? step : "*"));
  return path.length === 0 ? "(root)" : path.join(".").slice(0, MAX_SHOWN_PATH_CHARS);
}

/** The steps of an issue's path. Numbers are indexes. */
function pathOf(issue: unknown): readonly unknown[] {
  const steps = listProperty(issue, "path", MAX_PATH).map((step) => property(step, "key") ?? step);
  return steps.length > 0 ? steps : stepsIn(issue).slice(0, MAX_PATH);
}

/** The steps of a path that is a text: a JSON pointer (ajv), or with dots and brackets (yup). */
function stepsIn(issue: unknown): readonly unknown[] {
  const text = textProperty(issue, "path") ?? textProperty(issue, "instancePath") ?? "";
  const path = text.slice(0, MAX_PATH_CHARS);
  const steps = path.startsWith("/")
    ? path.slice(1).split("/").map(unescaped)
    : path.split(/[.[\]]/).filter((step) => step !== "");
  return steps.map((step) => (/^\d{1,3}$/.test(step) ? Number(step) : step));
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function isIndex(step: unknown): boolean {
  return typeof step === "number" && Number.isInteger(step) && step >= 0 && step <= MAX_INDEX;
}

function ruleOf(issue: unknown, terms: SchemaTerms): string {
  const params = property(issue, "params");
  const isType = property(issue, "keyword") === "type";
  const expected =
    typeIn(property(issue, "expected")) ?? (isType && typeIn(property(params, "type")));
  if (expected) return `expected ${expected}`;
  const rule = ["code", "keyword", "type"].map((key) => property(issue, key)).find(isSchemaWord);
  if (rule === undefined) return "invalid";
  // ajv has further data in `params`.
  const bounds = [
    ...["minimum", "maximum", "format", "validation"].map((key) => property(issue, key)),
    ...["limit", "format", "missingProperty"].map((key) => property(params, key)),
  ];
  const bound = bounds.find((value) => isSchemaWord(value) || isTerm(value, terms));
  return bound === undefined ? rule : `${rule} (${bound})`;
}

/** Arktype writes "a string". */
function typeIn(expected: unknown): string | undefined {
  const type = typeof expected === "string" ? expected.replace(/^an? /, "") : expected;
  return isSchemaWord(type) ? type : undefined;
}

function isTerm(value: unknown, { names, numbers }: SchemaTerms): boolean {
  return names.has(value) || numbers.has(value);
}
