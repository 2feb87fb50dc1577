import type { SpanEncoding } from "../../bridge/door.ts";
import { traceRequestBytes } from "./otlp-protobuf.ts";
import { type Fields, listed } from "./otlp-spans.ts";

/** A span of a request, as it stands there, with its resource and its scope. */
export interface RawSpan {
  readonly span: Fields;
  readonly from: SpanOrigin;
}

/** What the spans of a scope have in common. */
interface SpanOrigin {
  /** The entry of `resourceSpans` without its spans. */
  readonly resource: Fields;
  /** The entry of `scopeSpans` without its spans. */
  readonly scope: Fields;
  /** Equal for equal resources, and for equal scopes. */
  readonly resourceKey: string;
  readonly scopeKey: string;
}

/** The spans of a request. */
export function* scopedSpansOf(request: Fields): Generator<RawSpan> {
  for (const ofResource of listed(request, "resourceSpans")) {
    const { scopeSpans: _, ...resource } = ofResource;
    const resourceKey = JSON.stringify(resource);
    for (const ofScope of listed(ofResource, "scopeSpans")) {
      const { spans: __, ...scope } = ofScope;
      const from = { resource, scope, resourceKey, scopeKey: JSON.stringify(scope) };
      for (const span of listed(ofScope, "spans")) yield { span, from };
    }
  }
}

/** The identical spans in a new request. */
export const RAW_SPANS: SpanEncoding<RawSpan> = {
  json: (spans) => JSON.stringify(requestOf(spans)),
  protobuf: (spans) => traceRequestBytes(requestOf(spans)),
};

interface ScopeGroup {
  readonly fields: Fields;
  readonly spans: Fields[];
}

/** Spans as a request in the form of OTLP/JSON, grouped by resource and scope. */
function requestOf(spans: readonly RawSpan[]): Fields {
  const resources = new Map<string, { fields: Fields; scopes: Map<string, ScopeGroup> }>();
  for (const { from, span } of spans) {
    const { resource, resourceKey, scope, scopeKey } = from;
    const known = resources.get(resourceKey) ?? { fields: resource, scopes: new Map() };
    resources.set(resourceKey, known);
    const group = known.scopes.get(scopeKey) ?? { fields: scope, spans: [] };
    known.scopes.set(scopeKey, group);
    group.spans.push(span);
  }
  return {
    resourceSpans: [...resources.values()].map(({ fields, scopes }) => ({
      ...fields,
      scopeSpans: [...scopes.values()].map((scope) => ({ ...scope.fields, spans: scope.spans })),
    })),
  };
}
