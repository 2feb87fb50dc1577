/** The spans of a parsed `ExportTraceServiceRequest`; none where it is something else. */
export function* spansOf(request: unknown): Generator<Readonly<Record<string, unknown>>> {
  for (const resource of listed(request, "resourceSpans")) {
    for (const scope of listed(resource, "scopeSpans")) yield* listed(scope, "spans");
  }
}

/** The attributes of a span that are strings or integers; integers may be written either way. */
export function plainAttributes(
  span: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string | number> {
  const attributes = new Map<string, string | number>();
  for (const { key, value } of listed(span, "attributes")) {
    if (typeof key !== "string" || !isRecord(value)) continue;
    const { intValue, stringValue } = value;
    if (typeof stringValue === "string") attributes.set(key, stringValue);
    else if (typeof intValue === "string" || typeof intValue === "number") {
      attributes.set(key, Number(intValue));
    }
  }
  return attributes;
}

/** Whether it looks like a request at all, also one without spans. */
export function isTraceRequest(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.resourceSpans);
}

type Fields = Readonly<Record<string, unknown>>;

function listed(value: unknown, name: string): Fields[] {
  const list = isRecord(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
