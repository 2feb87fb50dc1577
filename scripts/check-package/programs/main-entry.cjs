const entelix = require("entelix-otel");
const audit = require("entelix-otel/audit");

void import("./use-main-entry.mjs").then(({ useMainEntry }) =>
  useMainEntry(entelix, audit, async () => require("entelix-otel/setup")),
);
