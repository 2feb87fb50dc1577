import { expect } from "vitest";
import { z } from "zod";

// The form that OpenTelemetry's GenAI conventions have for messages (their JSON schemas, May 2026), stricter in
// one point: a part of a type that they name must be as they say.

const nullableText = z.string().nullish();
const part = <T extends string>(type: T, fields: z.ZodRawShape) =>
  z.looseObject({ type: z.literal(type), ...fields });

const KNOWN = [
  part("text", { content: z.string() }),
  part("reasoning", { content: z.string() }),
  part("tool_call", { id: nullableText, name: z.string() }),
  part("tool_call_response", { id: nullableText, response: z.json() }),
  part("server_tool_call", {
    id: nullableText,
    name: z.string(),
    server_tool_call: z.looseObject({ type: z.string() }),
  }),
  part("server_tool_call_response", {
    id: nullableText,
    server_tool_call_response: z.looseObject({ type: z.string() }),
  }),
  part("blob", { mime_type: nullableText, modality: z.string(), content: z.string() }),
  part("uri", { mime_type: nullableText, modality: z.string(), uri: z.string() }),
  part("file", { mime_type: nullableText, modality: z.string(), file_id: z.string() }),
] as const;

const NAMES = new Set(KNOWN.map(({ shape }) => shape.type.value));

const anyPart = z.union([
  ...KNOWN,
  z.looseObject({ type: z.string().refine((type) => !NAMES.has(type as never)) }),
]);

const message = z.looseObject({
  role: z.string().min(1),
  parts: z.array(anyPart),
  name: nullableText,
});

export const inputForm = z.array(message);
export const outputForm = z.array(message.extend({ finish_reason: z.string().min(1) }));
export const partsForm = z.array(anyPart);
export const toolsForm = z.array(z.looseObject({ type: z.string(), name: z.string() }));

/** Content attributes, and the form that each has. */
const FORMS = {
  "gen_ai.input.messages": inputForm,
  "gen_ai.output.messages": outputForm,
  "gen_ai.system_instructions": partsForm,
  "gen_ai.tool.definitions": toolsForm,
};

/** Checks the messages on spans; returns how many attributes with messages there were. */
export function expectMessageForm(
  spans: readonly { readonly attributes: Readonly<Record<string, unknown>> }[],
): number {
  let count = 0;
  for (const { attributes } of spans) {
    for (const [name, form] of Object.entries(FORMS)) {
      const text = attributes[name];
      if (text === undefined) continue;
      count += 1;
      const { error } = form.safeParse(JSON.parse(String(text)));
      expect(error, `${name}: ${String(text)}`).toBeUndefined();
    }
  }
  return count;
}

interface Attributed {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The messages of an attribute; `undefined` where it is not set. */
export function messagesOn(
  { attributes }: Pick<Attributed, "attributes">,
  which: "input" | "output",
): z.infer<typeof inputForm> | undefined {
  const text = attributes[`gen_ai.${which}.messages`];
  return text === undefined ? undefined : inputForm.parse(JSON.parse(String(text)));
}

/** What runs were asked and answered: of each `invoke_agent` span, in the order of their ends. */
export function runContent(spans: readonly Attributed[]) {
  return spans
    .filter(({ name }) => name.startsWith("invoke_agent"))
    .map((span) => [messagesOn(span, "input"), messagesOn(span, "output")]);
}

/** The names of attributes with content, of any span. */
export function contentNames(spans: readonly Attributed[]): readonly string[] {
  const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
  return names.filter((name) => /messages|instructions|definitions|arguments|result$/.test(name));
}
