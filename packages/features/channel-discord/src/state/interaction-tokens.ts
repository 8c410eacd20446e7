/**
 * What a command is answered by: a token that is good for a quarter of an hour, and for one answer in the place that the
 * command made for it.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#followup-messages
 */
import type { Clock, SecretStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { fieldsOf, textOf } from "../api/fields.ts";
import { timeOfId } from "../api/snowflake.ts";

export interface Answerable {
  readonly applicationId: string;
  readonly token: string;
}

export interface InteractionTokens {
  /** Resolves once it is on disk, where nobody reads it. */
  keep(interactionId: string, answerable: Answerable): Promise<void>;
  /** For the first delivery that asks, and for it again; undefined: the answer is a message like any other. */
  claim(interactionId: string, deliveryId: string): Promise<Answerable | undefined>;
}

/** A minute less than the platform's, for what is on its way. */
const LASTS_MS = 840_000;
const PREFIX = "interaction ";

export function interactionTokens(secrets: SecretStore, clock: Pick<Clock, "now">): InteractionTokens {
  const isOver = (interactionId: string): boolean => timeOfId(interactionId) + LASTS_MS < clock.now();
  return {
    async keep(interactionId, answerable) {
      const before = await secrets.list(PREFIX);
      await secrets.set(PREFIX + interactionId, JSON.stringify(answerable));
      for (const name of before) if (isOver(name.slice(PREFIX.length))) await secrets.delete(name);
    },
    async claim(interactionId, deliveryId) {
      if (isOver(interactionId)) return undefined;
      const text = await secrets.get(PREFIX + interactionId);
      const kept = fieldsOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
      const [applicationId, token, by] = [textOf(kept["applicationId"]), textOf(kept["token"]), textOf(kept["by"])];
      if (applicationId === undefined || token === undefined || (by ?? deliveryId) !== deliveryId) return undefined;
      const answerable = { applicationId, token };
      if (by === undefined)
        await secrets.set(PREFIX + interactionId, JSON.stringify({ ...answerable, by: deliveryId }));
      return answerable;
    },
  };
}
