/** `POST /pair`: header `X-Pairing-Code`, optional body `{"device_name"}` → 200 `{"paired":true,"token"}`. */
import type { IncomingHttpHeaders } from "node:http";
import { PairedToken, PairingCode, PairRequest } from "@svc/api";
import type { Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import * as v from "valibot";
import type { Paired, Pairing, WantedDevice } from "../auth/pairing.ts";
import { errorReply, Reply, replyToError } from "../http/reply.ts";
import type { Client } from "../middleware/client.ts";
import type { Exchange } from "../middleware/pipeline.ts";
import { respond, type RouteSpec } from "./route.ts";

/** Codes and device names are short; no valid request is longer. */
export const MAX_PAIR_BYTES = 4096;

export const PAIR = {
  method: "POST",
  path: "/pair",
  access: "public",
  summary: "Turns a pairing code into a bearer token.",
  details: "`svc pair` makes a code, which is good for ten minutes and for one device.",
  headers: { "X-Pairing-Code": PairingCode },
  body: PairRequest,
  bodyOptional: true,
  answers: {
    200: {
      description: "The token is shown once; only its hash is stored.",
      body: PairedToken,
    },
  },
  errors: ["RATE_LIMITED", "LOCKED_OUT", "BAD_PAIRING_CODE", "INTERNAL"],
} satisfies RouteSpec;

const BAD_NAME = errorReply("BAD_REQUEST", {
  message: 'The body, if any, must be a JSON object whose "device_name" is 1 to 64 printable characters.',
});

export interface PairRouteDeps {
  readonly pairing: Pairing;
  readonly log: Logger;
}

export class PairRoute {
  readonly #deps: PairRouteDeps;

  constructor(deps: PairRouteDeps) {
    this.#deps = deps;
  }

  readonly answer = async ({ client, incoming, body }: Exchange): Promise<Reply> => {
    const paired = await this.pair(client, incoming.headers, body);
    return paired instanceof Reply ? paired : respond(PAIR, 200, { paired: true, token: paired.token });
  };

  /** The body is judged before the code is: a request that can't succeed must not use the code up. */
  async pair(
    client: Client,
    headers: IncomingHttpHeaders,
    body: Buffer,
    wanted: WantedDevice = {},
  ): Promise<Paired | Reply> {
    const name = deviceName(body);
    if (name instanceof Reply) return name;
    const code = headers["x-pairing-code"];
    try {
      return await this.#deps.pairing.pair(typeof code === "string" ? code.trim() : "", client, {
        ...wanted,
        ...(name !== undefined && { name }),
      });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status === 500) {
        this.#deps.log.error("pairing failed: the device could not be stored", whatHappened(error));
      }
      return reply;
    }
  }
}

function deviceName(body: Buffer): string | undefined | Reply {
  if (body.length === 0) return undefined;
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  const parsed = v.safeParse(PairRequest, value);
  // To valibot a list is an object too.
  return parsed.success && !Array.isArray(value) ? (parsed.output.device_name ?? undefined) : BAD_NAME;
}

function whatHappened(error: unknown): { cause: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  return { cause: cause instanceof Error ? cause.message : "unknown" };
}
