/**
 * Requests whose callers do not wait: kept in the inbox, answered 202, and the turn's answer is posted to the operator's URL by
 * the channel `webhook`. The session is the one that a request that waits would have, and the caller's alone.
 */
import { newSessionName, sessionMessageOf } from "@svc/agent";
import { SvcError } from "@svc/contract";
import type { Arrived, IdempotencyClaim, KeptMessage } from "@svc/store";
import { jsonReply, type Reply } from "../http/reply.ts";
import type { GatewayDeps } from "../types.ts";
import type { Caller } from "./layers.ts";
import { APPLIED } from "./prefer.ts";

/** The channel by which answers go out; what it posts them to is set in the section of these very requests. */
const CHANNEL = "webhook";

export interface LaterDeps {
  readonly inbox: Pick<GatewayDeps["inbox"], "accept">;
  readonly idempotency: Pick<GatewayDeps["store"]["idempotency"], "keep" | "release">;
  readonly isUp: GatewayDeps["isChannelUp"];
}

export class LaterReplies {
  readonly #deps: LaterDeps;

  constructor(deps: LaterDeps) {
    this.#deps = deps;
  }

  /** Else there is nowhere to post an answer to, and the caller had better wait. */
  get isPossible(): boolean {
    return this.#deps.isUp(CHANNEL);
  }

  /**
   * Resolves once it is on disk, its key with it: from then on the answer comes, over restarts too. Rejects with BUSY and
   * STORE_*, and then the request may come again.
   */
  async take(
    { owner, device }: Caller,
    text: string,
    session: string = newSessionName(),
    claim: IdempotencyClaim | undefined,
  ): Promise<Reply> {
    const { inbox, idempotency } = this.#deps;
    const sender = device?.id ?? "anonymous";
    // Two callers may give their sessions one name: where their answers wait is not one place.
    const conversation = { channel: CHANNEL, id: `${session}@${sender}` };
    const message = sessionMessageOf({ owner, session, conversation, sender, text, replyData: { session } });
    try {
      const arrived = await inbox.accept({ channel: CHANNEL, messages: [message] }, (_arrival, kept) => {
        if (claim) idempotency.keep(claim, firstOf(kept).turnId, "done");
        return undefined;
      });
      const body = { status: "accepted", session_id: session, message_id: `in-${firstOf(arrived).n}` };
      return jsonReply(202, body, APPLIED);
    } finally {
      if (claim) idempotency.release(claim);
    }
  }
}

/** It has no id that could have been seen before. */
function firstOf(arrived: Arrived): KeptMessage {
  const first = arrived.state === "kept" ? arrived.messages[0] : undefined;
  if (first === undefined || first === "duplicate") throw new SvcError("INTERNAL");
  return first;
}
