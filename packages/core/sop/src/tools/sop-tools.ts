/** What the agent can do with procedures. */
import type { Approvals } from "../approvals/types.ts";
import type { Sops } from "../runs/types.ts";
import { sopApproveTool } from "./sop-approve.ts";
import { sopListTool, sopStatusTool } from "./sop-read.ts";
import { sopRunTool } from "./sop-run.ts";
import type { SopTool } from "./tool-context.ts";

/** Asked at every call: tools are registered before there is a store. */
export interface SopDoors {
  readonly sops: () => Sops;
  readonly approvals: () => Pick<Approvals, "list" | "resolve">;
}

/** Where there is no procedure they can only fail, and are better not offered. */
export const SOP_TOOLS: readonly string[] = ["sop_list", "sop_status", "sop_run", "sop_approve"];

export const sopTools = (doors: SopDoors): SopTool[] => [
  sopListTool(doors),
  sopStatusTool(doors),
  sopRunTool(doors),
  sopApproveTool(doors),
];
