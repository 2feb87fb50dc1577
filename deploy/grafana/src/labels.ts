/** `service.name`, as Prometheus has it: what Jaeger calls the service. */
export const JOB = "job";
export const TENANT = "entelix_tenant_id";
export const AGENT = "gen_ai_agent_name";
export const TOOL = "gen_ai_tool_name";
export const OUTCOME = "entelix_run_outcome";
/** What an open run waits for. */
export const WAITS_FOR = "entelix_run_waits_for";
/** The shape of a loop of tool calls. */
export const LOOP = "entelix_run_loop";
export const FAILURE_KIND = "entelix_failure_kind";
/** What failures of one cause have in common; `_other` for those that found no room. */
export const FINGERPRINT = "entelix_failure_fingerprint";
export const FAILURE_ORIGIN = "entelix_failure_origin";
/** Name of an objective, of a recording rule. */
export const OBJECTIVE = "objective";
export const TOOL_ERROR_KIND = "entelix_tool_error_kind";
export const MODEL = "gen_ai_request_model";
/** `chat` or `embeddings`. */
export const OPERATION = "gen_ai_operation_name";
export const PROVIDER = "gen_ai_provider_name";
/** Why a run or a call failed; only on the series of those that did. */
export const ERROR_TYPE = "error_type";
export const TOKEN_TYPE = "gen_ai_token_type";
export const REASON = "entelix_reason";
