import type { Tool } from "@svc/contract";

/** Whether a call acts. A tool that runs command lines does, whatever else it says. */
export function approvalOf(tool: Tool, input: unknown): "auto" | "ask" {
  if (tool.commandLine) return "ask";
  return typeof tool.approval === "function" ? tool.approval(input) : tool.approval;
}
