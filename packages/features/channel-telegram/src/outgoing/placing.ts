/** Where in a chat a message is put: in its topic, and in a group below the question that it answers. */
import type { OutgoingMessage } from "@svc/contract";
import { fieldsOf, idOf } from "../fields.ts";
import type { Target } from "./target.ts";

export function placingOf({ threadId }: Target, { replyData }: Pick<OutgoingMessage, "replyData">) {
  const answered = idOf(fieldsOf(replyData)["messageId"]);
  return {
    ...(threadId !== undefined && { message_thread_id: threadId }),
    ...(answered !== undefined && {
      // The question may be gone by now.
      reply_parameters: { message_id: answered, allow_sending_without_reply: true },
    }),
  };
}
