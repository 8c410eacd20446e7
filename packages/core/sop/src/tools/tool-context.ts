/** What core's own tools are handed beside what every tool gets; the agent's `CoreToolContext`, as far as it is used here. */
import type { Json, Tool, ToolContext } from "@svc/contract";
import type { Approvals } from "../approvals/types.ts";
import type { Sops } from "../runs/types.ts";

export interface SopToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
}

/** Structurally the agent's `CoreTool`. */
export interface SopTool extends Tool {
  /** What a call came to that was cut off; undefined: it has done nothing, and may be made again. */
  recall?(turnId: string, callId: string): { readonly output: Json } | undefined;
}

/** Asked at every call: tools are registered before there is a store. */
export interface SopToolDeps {
  readonly sops: () => Sops;
  readonly approvals: () => Pick<Approvals, "list" | "resolve">;
}
