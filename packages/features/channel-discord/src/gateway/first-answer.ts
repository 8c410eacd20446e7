/**
 * What a command or a press is answered at once; the platform shows it as failed after three seconds.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object
 */
import type { Json, Logger } from "@svc/contract";
import { SvcError } from "@svc/contract";
import type { Rest } from "../api/rest.ts";
import type { Interaction } from "../inbound/interaction.ts";

/** `refusal`: seen by nobody else. */
export async function answerAtOnce(
  rest: Rest,
  log: Logger,
  { id, token, kind }: Interaction,
  refusal: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const json: Json =
    refusal === undefined
      ? { type: kind === "command" ? DEFERRED_MESSAGE : DEFERRED_UPDATE }
      : { type: MESSAGE, data: { content: refusal, flags: EPHEMERAL, allowed_mentions: { parse: [] } } };
  try {
    await rest.call({ path: `interactions/${id}/${token}/callback`, json }, signal);
  } catch (error) {
    // It is taken all the same: what answers it goes out as a message then.
    const code = error instanceof SvcError ? error.code : "INTERNAL";
    if (!signal.aborted) log.info("a command or button could not be answered at once", { code });
  }
}

const MESSAGE = 4;
const DEFERRED_MESSAGE = 5;
const DEFERRED_UPDATE = 6;
const EPHEMERAL = 1 << 6;
