import * as entelix from "entelix-otel";
import { useMainEntry } from "./use-main-entry.mjs";

await useMainEntry(entelix, () => import("entelix-otel/setup"));
