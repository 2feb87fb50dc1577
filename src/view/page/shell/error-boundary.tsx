import { Component, type ComponentChildren } from "preact";
import { ErrorNote } from "./error-note.tsx";

interface Props {
  readonly children: ComponentChildren;
}

/** Shows what went wrong where a part of the page can't be shown. The rest of the page stays. */
export class ErrorBoundary extends Component<Props, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main>
        <ErrorNote
          reason={error instanceof Error ? (error.stack ?? error.message) : String(error)}
          title="This page has an error and can't be shown."
        >
          <p class="row">
            <a class="button" href="#/">
              All runs
            </a>
            <button onClick={() => location.reload()} type="button">
              Load again
            </button>
          </p>
        </ErrorNote>
      </main>
    );
  }
}
