/** `/api/session`: sign-ins of pages. */
import * as v from "valibot";
import { PairingCode } from "./devices.ts";
import type { Output } from "./schema.ts";

/** The device that a page is signed in as. */
export const PageDevice = v.object({ id: v.string(), name: v.string(), scope: v.picklist(["operator", "read"]) });
export type PageDevice = Output<typeof PageDevice>;

export const SignIn = v.object({
  csrf: v.pipe(v.string(), v.description("To be sent as X-Svc-Csrf with each request.")),
  device: PageDevice,
});
export type SignIn = Output<typeof SignIn>;

export const SignInHeaders = {
  Origin: v.pipe(v.string(), v.description("That of the page, which is our own.")),
  Authorization: v.optional(v.pipe(v.string(), v.description("A token of scope operator or read."))),
  "X-Pairing-Code": v.optional(PairingCode),
};

export const SignedIn = v.object({ csrf: v.exactOptional(v.string()), device: PageDevice });
export type SignedIn = Output<typeof SignedIn>;

/** Features that can sign a page in. */
export const SignInFeatures = v.object({ features: v.array(v.string()) });
export type SignInFeatures = Output<typeof SignInFeatures>;
