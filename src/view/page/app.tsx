import { useLayoutEffect } from "preact/hooks";
import type { RunData } from "./data.ts";
import { type Feed, FeedContext } from "./feed.ts";
import { ListPage } from "./list/list-page.tsx";
import { useRoute } from "./route.ts";
import { RunPage } from "./run/run-page.tsx";
import { ErrorBoundary } from "./shell/error-boundary.tsx";
import { Header } from "./shell/header.tsx";
import { LiveRegion } from "./shell/live-region.tsx";

/** The list of runs, or one of them, as the address says. */
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
