/** What core's own tools are handed beside what every tool gets. A feature's tool must not depend on which call it is. */
import type { Json, Tool, ToolContext } from "@svc/contract";

export interface CoreToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
}

/** A tool of core's own that may keep what it does under the name of the call. */
export interface CoreTool extends Tool {
  /**
   * What a call came to that was cut off, as far as the disk has it; undefined: it has done nothing, and may be made again. A
   * tool without it can't tell.
   */
  recall?(turnId: string, callId: string): { readonly output: Json } | undefined;
}
