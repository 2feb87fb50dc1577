import { counted } from "../../../events/format/door.ts";
import { useFeed } from "../feed.ts";
import { listAddress } from "../route.ts";
import { ErrorNote } from "./error-note.tsx";
import { ThemeSwitch } from "./theme.tsx";

/** Header of every page: name, state of the connection, and theme. */
export function Header() {
  const feed = useFeed();
  const { error, loaded } = feed.state;
  return (
    <header class="header">
      <div class="row">
        <a class="visually-hidden button" href={location.hash} onClick={skipToContent}>
          Skip to the content
        </a>
        <a class="header-name" href={listAddress()}>
          entelix-otel
        </a>
        <span class="muted">{feed.isReport ? "report" : "view"}</span>
        <span class="header-space" />
        <ThemeSwitch />
      </div>
      {feed.leftOut > 0 && (
        <p class="note plain">
          {counted(feed.leftOut, "more failed run")} left out: a report has at most 1,000 runs and
          50 MB. <code>entelix-otel report --run ID</code> writes one of them.
        </p>
      )}
      {error !== undefined && loaded && (
        <ErrorNote
          reason={error}
          title="The last request failed. The page shows its last data and keeps trying."
        >
          <p>
            <button onClick={() => feed.retry()} type="button">
              Try now
            </button>
          </p>
        </ErrorNote>
      )}
    </header>
  );
}

/** A link to `#main` would change the route. */
function skipToContent(event: Event): void {
  event.preventDefault();
  const main = document.querySelector("main");
  main?.setAttribute("tabindex", "-1");
  main?.focus();
}
