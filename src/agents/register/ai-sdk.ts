import { AI_SDK_TELEMETRY, AiSdkTelemetry } from "../ai-sdk/telemetry.ts";
import { fieldIn, listOf } from "../core/door.ts";
import type { Reporting } from "./agent-sink.ts";

/** The global in which the AI SDK 7 stores integrations of `registerTelemetry`. */
const INTEGRATIONS = "AI_SDK_TELEMETRY_INTEGRATIONS";

/** Reports every call, unless the application registered a telemetry of this package itself. */
class AutomaticTelemetry extends AiSdkTelemetry {
  override onStart(event: unknown): void | Promise<void> {
    const known = listOf(Reflect.get(globalThis, INTEGRATIONS)) ?? [];
    if (known.some((each) => each !== this && fieldIn(each, AI_SDK_TELEMETRY) === true)) return;
    return super.onStart(event);
  }
}

/** Registers the telemetry in the SDK's global. The SDK need not be loaded. */
export function enableAiSdk(reporting: Reporting): void {
  const telemetry = new AutomaticTelemetry(reporting);
  const known: unknown = Reflect.get(globalThis, INTEGRATIONS);
  if (Array.isArray(known)) known.push(telemetry);
  else Reflect.set(globalThis, INTEGRATIONS, [telemetry]);
}
