import * as entelix from "entelix-otel";
import * as audit from "entelix-otel/audit";
import { useMainEntry } from "./use-main-entry.mjs";

await useMainEntry(entelix, audit, () => import("entelix-otel/setup"));
