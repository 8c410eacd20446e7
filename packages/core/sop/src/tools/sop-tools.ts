/** What the agent can do with procedures. */
import { sopApproveTool } from "./sop-approve.ts";
import { sopListTool, sopStatusTool } from "./sop-read.ts";
import { sopRunTool } from "./sop-run.ts";
import type { SopTool, SopToolDeps } from "./tool-context.ts";

/** Where there is no procedure they can only fail, and are better not offered. */
export const SOP_TOOLS: readonly string[] = ["sop_list", "sop_status", "sop_run", "sop_approve"];

export const sopTools = (deps: SopToolDeps): SopTool[] => [
  sopListTool(deps),
  sopStatusTool(deps),
  sopRunTool(deps),
  sopApproveTool(deps),
];
