import * as postgres from "entelix-otel/postgres";
import { sayNoPostgres } from "./say-no-postgres.mjs";

await sayNoPostgres(postgres);
