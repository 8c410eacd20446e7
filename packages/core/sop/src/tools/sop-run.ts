/** `sop_run`: the agent starts a procedure. */
import { defineTool, type Json } from "@svc/contract";
import * as v from "valibot";
import { MAX_PAYLOAD_CHARS } from "../runs/begin.ts";
import { sopName } from "./inputs.ts";
import { runJson } from "./sop-read.ts";
import type { SopTool, SopToolContext, SopToolDeps } from "./tool-context.ts";

export function sopRunTool({ sops }: SopToolDeps): SopTool {
  const tool = defineTool({
    name: "sop_run",
    description:
      "Starts a procedure that has a manual trigger. It goes on by itself, in the background; the result tells the run's id, " +
      "and sop_status how far it is. Its gates are for people: you can't approve a run that you have started.",
    input: v.strictObject({
      sop: sopName,
      payload: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(MAX_PAYLOAD_CHARS),
          v.check(isJson, "JSON text"),
          v.description("What the procedure is given, as JSON text. Default: nothing."),
        ),
      ),
    }),
    approval: "ask",
    run: async ({ sop, payload }, context): Promise<Json> => {
      const { agent, turnId, callId } = context as SopToolContext;
      const starter = { by: `agent ${agent}`, agent, key: `${turnId}:${callId}` };
      return runJson(await sops().run(sop, payload ?? null, starter));
    },
  });
  // It may be made again: by its key it gives the run that it began before.
  return { ...tool, recall: () => undefined };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
