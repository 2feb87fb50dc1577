import { useEffect, useState } from "preact/hooks";
import { readStored, store } from "./stored.ts";

const THEMES = ["system", "light", "dark"] as const;

type Theme = (typeof THEMES)[number];

const KEY = "theme";

/** Sets the last chosen theme. Call it before the first rendering, so that the page does not flash. */
export function applyStoredTheme(): void {
  apply(storedTheme());
}

/** Light, dark, or as the system is. The choice stays in this browser. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => apply(theme), [theme]);
  return (
    <label class="row no-print">
      <span class="visually-hidden">Theme</span>
      <select
        onChange={({ currentTarget }) => {
          const chosen = themeOf(currentTarget.value);
          store(KEY, chosen);
          setTheme(chosen);
        }}
        value={theme}
      >
        <option value="system">System theme</option>
        <option value="light">Light theme</option>
        <option value="dark">Dark theme</option>
      </select>
    </label>
  );
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function themeOf(text: string | null): Theme {
  return THEMES.find((theme) => theme === text) ?? "system";
}

function storedTheme(): Theme {
  return themeOf(readStored(KEY));
}
