import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A list of prices. */
export interface PriceList {
  /** Its npm package. */
  readonly package: string;
  /** The version that is installed. */
  readonly version: string;
  /** The day of its release. `undefined` for versions that this package does not know. */
  readonly date: string | undefined;
}

const PACKAGE = "@pydantic/genai-prices";

/** Days of releases: the package does not say the date of its prices. */
const DATES: ReadonlyMap<string, string> = new Map([["0.1.8", "2026-09-23"]]);

/** The list of prices that is installed, with its date. */
export const PRICE_LIST: PriceList = listOf(installedVersion());

function listOf(version: string): PriceList {
  return { package: PACKAGE, version, date: DATES.get(version) };
}

/** How a list is named beside costs: `prices of 2026-09-23`. */
export function priceListName({ date, version }: PriceList = PRICE_LIST): string {
  return date === undefined ? `prices of ${PACKAGE} ${version}` : `prices of ${date}`;
}

/** The package does not export its package.json, so the file is read. */
function installedVersion(): string {
  try {
    const main = createRequire(import.meta.url).resolve(PACKAGE);
    const manifest: unknown = JSON.parse(
      readFileSync(join(dirname(main), "..", "package.json"), "utf8"),
    );
    if (typeof manifest === "object" && manifest !== null && "version" in manifest)
      return String(manifest.version);
  } catch {
    // A bundle has the package in it, without its files.
  }
  return "unknown version";
}
