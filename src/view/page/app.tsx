import { Component, type ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { RunData } from "./data.ts";
import { type Feed, FeedContext } from "./feed.ts";
import { ListPage } from "./list/list-page.tsx";
import { useRoute } from "./route.ts";
import { RunPage } from "./run/run-page.tsx";
import { ErrorNote } from "./shell/error-note.tsx";
import { Header } from "./shell/header.tsx";
import { LiveRegion } from "./shell/live-region.tsx";

/** The list or a run, depending on the address. */
export function App({ data, feed }: { readonly data: RunData; readonly feed: Feed }) {
  const { query, run } = useRoute();
  useLayoutEffect(() => {
    if (run !== undefined) scrollTo(0, 0);
  }, [run]);
  return (
    <FeedContext.Provider value={feed}>
      <Header />
      <ErrorBoundary key={run ?? ""}>
        {run === undefined ? (
          <ListPage query={query} />
        ) : (
          <RunPage data={data} key={run} query={query} runKey={run} />
        )}
      </ErrorBoundary>
      <LiveRegion />
    </FeedContext.Provider>
  );
}

/** Shows an error instead of a part of the page that failed. The rest of the page stays. */
class ErrorBoundary extends Component<
  { readonly children: ComponentChildren },
  { readonly error?: unknown }
> {
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
