/** https://docs.discord.com/developers/resources/message#edit-message */
import type { Drafts } from "@svc/contract";
import type { Rest } from "../api/rest.ts";
import type { Config } from "../config.ts";
import { saying } from "./message-body.ts";
import type { Places } from "./places.ts";
import { sentId } from "./sent-message.ts";

/** Five in five seconds of one channel; one second less than that nobody gets. */
const LEAST_MS = 1_000;

/** Undefined: answers are sent when they are complete. */
export function draftsBy(
  rest: Rest,
  places: Places,
  { stream_mode: mode, draft_update_interval_ms: intervalMs }: Config,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs: () => Math.max(LEAST_MS, intervalMs),
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const id = sentId(platformId);
      const { channelId } = await places.find(conversation, signal);
      await rest.call({ method: "PATCH", path: `channels/${channelId}/messages/${id}`, json: saying(text) }, signal);
    },
  };
}
