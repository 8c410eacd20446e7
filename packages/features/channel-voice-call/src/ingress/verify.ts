/** Whether a webhook is the platform's. */
import type { Ingress, RawRequest, Verdict } from "@svc/contract";
import { formOf } from "../platform/form.ts";
import { isSigned, SIGNATURE_HEADER } from "../platform/signature.ts";

/** `base`: the public URL of this service, which is a part of what is signed; undefined: nobody knows it. */
export function signatureCheck(authToken: string, base: string | undefined): Ingress["verify"] {
  return ({ target, headers, body }: RawRequest): Verdict => {
    if (base === undefined) return refused("neither webhook_url nor gateway.public_url says what the platform calls");
    const header = headers[SIGNATURE_HEADER];
    if (header === undefined) return refused("X-Twilio-Signature is missing");
    const form = formOf(body);
    if (form === undefined) return refused("the body is no form of the platform's");
    if (isSigned(authToken, { url: base + target, form, header })) return { ok: true };
    return refused("X-Twilio-Signature does not fit: other auth_token, or webhook_url is not what the platform calls");
  };
}

const refused = (why: string): Verdict => ({ ok: false, code: "BAD_SIGNATURE", why });
