/** Signs of activity: the typing indicator and read receipts. */
import type { Channel } from "@svc/contract";
import { pathPart } from "@svc/kit";
import type { Api } from "./api.ts";
import { isHandle } from "./handle.ts";

/** Only iMessage chats of two have either; of others the platform says 403 or 409, which is no failure of ours. */
const NOT_THERE = [403, 404, 409];

/** https://docs.linqapp.com/guides/chats/typing-indicators/ – ends by itself when a message is sent. */
export const typing = (api: Api): NonNullable<Channel["typing"]> => ({
  lastsMs: 60_000,
  async start({ id }, _messageId, signal) {
    // A chat that the answer will begin.
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/typing`, { answers: NOT_THERE, signal });
  },
});

/** https://docs.linqapp.com/api/resources/chats/ – the platform marks all of a chat, not one message. */
export const readMarks = (api: Api): NonNullable<Channel["readMarks"]> => ({
  async mark({ id }, _messageId, signal) {
    if (isHandle(id)) return;
    await api(`/chats/${pathPart(id)}/read`, { answers: NOT_THERE, signal });
  },
});
