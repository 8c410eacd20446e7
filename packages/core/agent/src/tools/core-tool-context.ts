/** What core's own tools are handed beside what every tool gets. A feature's tool must not depend on which call it is. */
import type { Json, Tool, ToolContext } from "@svc/contract";

export interface CoreToolContext extends ToolContext {
  /** Name of the agent that calls. */
  readonly agent: string;
  /** Names of the tools that the turn has. */
  readonly tools: readonly string[];
  /** The same when the call is made again because the process died; together with `callId` it names the call. */
  readonly turnId: string;
  readonly callId: string;
  /** What `CoreTool.pin` found before a person approved the call; undefined where no person was asked. */
  readonly pinned?: Readonly<Record<string, Json>> | undefined;
}

export type PinnedCall = Pick<CoreToolContext, "turnId" | "callId" | "agent" | "workspace">;

/** A tool of core's own that may keep what it does under the name of the call, and may have a rule of its own. */
export interface CoreTool extends Tool {
  /**
   * Why a call may not run, whoever would say yes to it, as a sentence that the model and the person can act on; undefined: it
   * is the policy's to judge. Asked before the policy, and again after the yes. `input` has passed the schema.
   */
  refuses?(input: unknown, call: Pick<CoreToolContext, "turnId" | "callId">): string | undefined;
  /**
   * What the call would use beside its input, such as the content of files: a person who is asked about the call sees it in place of
   * the input's fields of the same names, and it is part of what the yes is to. What it throws ends the call before anybody is asked.
   */
  pin?(input: unknown, call: PinnedCall): Promise<Readonly<Record<string, Json>> | undefined>;
  /**
   * What a call came to that was cut off, as far as the disk has it; undefined: it has done nothing, and may be made again. A
   * tool without it can't tell.
   */
  recall?(turnId: string, callId: string): { readonly output: Json } | undefined;
}
