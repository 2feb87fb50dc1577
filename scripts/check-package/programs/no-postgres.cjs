const postgres = require("entelix-otel/postgres");

void import("./say-no-postgres.mjs").then(({ sayNoPostgres }) => sayNoPostgres(postgres));
