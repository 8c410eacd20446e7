/** `parcel_door_code`: what a client entrusts to the tool, kept encrypted over restarts and seen by nobody else. */
import { defineTool, type FeatureContext, type Tool } from "@svc/contract";
import * as v from "valibot";

export const doorCode = (secretsOf: FeatureContext["secretsOf"]): Tool =>
  defineTool({
    name: "parcel_door_code",
    description: "Remembers the door code that the carrier needs for this customer.",
    input: v.strictObject({ code: v.pipe(v.string(), v.regex(/^\d{1,12}$/)) }),
    approval: "ask",
    async run({ code }, { clientId, signal }) {
      signal.throwIfAborted();
      await secretsOf(clientId).set("door-code", code);
      return "remembered";
    },
  });
