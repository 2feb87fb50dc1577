import { migration1 } from "./migration-1.ts";

/** The statements of each version of the schema, the first one first; given the quoted schema. */
export const MIGRATIONS: readonly ((schema: string) => string)[] = [migration1];

/** The version of the schema that this package reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;
