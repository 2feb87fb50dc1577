import type { RunData } from "./data.ts";
import { ListPage } from "./list/list-page.tsx";
import { useRoute } from "./route.ts";
import { RunPage } from "./run/run-page.tsx";

/** The list of runs, or one of them, as the address says. */
export function App({ data }: { readonly data: RunData }) {
  const { query, run } = useRoute();
  return run === undefined ? (
    <ListPage data={data} query={query} />
  ) : (
    <RunPage data={data} key={run} runKey={run} query={query} />
  );
}
