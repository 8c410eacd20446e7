/** Codes that an operator makes in the page, for further devices. */
import type { Logger } from "@svc/contract";
import * as v from "valibot";
import { jsonReply, Reply } from "../http/reply.ts";
import { DEVICE_NAME } from "../pairing/device-name.ts";
import type { PairingLinks } from "../pairing/link.ts";
import type { Pairing } from "../pairing/pairing.ts";
import type { ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import { time } from "./fields.ts";

const BODY = v.object({
  scope: v.optional(
    v.pipe(v.picklist(["operator", "webhook", "read"]), v.description("What the device may do. Default: operator.")),
    "operator",
  ),
  name: v.nullish(DEVICE_NAME),
});

const ISSUE: Omit<ApiRoute, "handle"> = {
  method: "POST",
  path: "/api/pairing-codes",
  access: "operate",
  summary: "Makes a pairing code for one more device.",
  details: "One use, ten minutes. At most eight codes work at a time; a further one ends the oldest.",
  body: BODY,
  answers: {
    200: {
      description: "The code.",
      body: v.object({
        code: v.pipe(v.string(), v.regex(/^\d{6}$/)),
        expires_at: time(),
        link: v.pipe(
          v.nullable(v.string()),
          v.description(
            "Signs a browser of another machine in by one click; null: other machines can't reach the page.",
          ),
        ),
      }),
    },
  },
};

export const PAIRING_CODE_SPECS = [ISSUE];

export interface PairingCodeDeps {
  readonly pairing: Pick<Pairing, "issueCode">;
  readonly linksOf: (code: string) => PairingLinks;
  readonly bodies: BodyLimits;
  readonly log: Logger;
}

export const pairingCodeRoutes = ({ pairing, linksOf, bodies, log }: PairingCodeDeps): ApiRoute[] => [
  {
    ...ISSUE,
    async handle(request) {
      const body = await jsonBody(request, BODY, bodies);
      if (body instanceof Reply) return body;
      const { scope, name } = body as v.InferOutput<typeof BODY>;
      const { code, expiresAt } = pairing.issueCode({ scope, name: name ?? undefined });
      // A stolen page could pair a device of its own this way: the log names the device that asked.
      log.info("a pairing code was made", { scope, device: request.device.id });
      return jsonReply(200, {
        code,
        expires_at: new Date(expiresAt).toISOString(),
        link: linksOf(code).remote ?? null,
      });
    },
  },
];
