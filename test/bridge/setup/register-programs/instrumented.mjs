// Stock instrumentation of `fetch`, as an application has it beside this package.
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";

new UndiciInstrumentation().enable();
