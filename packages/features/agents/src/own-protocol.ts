/** What svc's own agent asks of svc beside the Agent Client Protocol: a child has neither a model nor tools of its own. */
import type { Json } from "@svc/contract";
import { z } from "zod";

export const STEP = "_svc/step";
export const CALL = "_svc/call";

export const stepRequest = z.object({ messages: z.array(z.json()) });
export const callRequest = z.object({ callId: z.string(), tool: z.string(), input: z.string() });

export interface StepAnswer {
  readonly said: Json;
  readonly text: string;
  readonly calls: readonly z.infer<typeof callRequest>[];
}

export interface CallAnswer {
  readonly ok: boolean;
  readonly message: Json;
}

/** Of `session/new`, in `_meta`. */
export interface OwnSession {
  readonly maxSteps: number;
}
