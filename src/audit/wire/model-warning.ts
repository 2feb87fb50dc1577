/**
 * What a model codec could not carry over. Upstream: `ModelWarning` of entelix-core, tagged by
 * `kind` inside the `warning` field of the event.
 */
export type ModelWarning =
  | { readonly kind: "lossy_encode"; readonly field: string; readonly detail: string }
  | { readonly kind: "unknown_stop_reason"; readonly raw: string }
  | {
      readonly kind: "unsupported_capability";
      readonly capability: string;
      readonly detail: string;
    }
  | { readonly kind: "provider_extension_ignored"; readonly vendor: string };
