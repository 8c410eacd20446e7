/** What core's own tools are handed beside what every tool gets. A feature's tool must not depend on which call it is. */
import type { ToolContext } from "@svc/contract";

export interface CoreToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
}
