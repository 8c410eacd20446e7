/** A call as the journal is told of it. */
import type { Json } from "@svc/contract";
import type { ToolCallRecord } from "@svc/store";
import { approvalOf } from "./approval-of.ts";
import type { CallRequest } from "./call-tool.ts";
import type { PermittedCall } from "./permit.ts";
import { redactJson } from "@svc/kernel";

export function recordOf(call: PermittedCall, { turnId, callId, redact }: CallRequest): ToolCallRecord {
  const { environment, tool } = call;
  const input = call.input as Json;
  const acting = approvalOf(tool, call.input) === "ask";
  return {
    turnId,
    callId,
    agent: environment.agent,
    tool: tool.name,
    acting,
    input: redact ? redactJson(input, redact) : input,
  };
}
