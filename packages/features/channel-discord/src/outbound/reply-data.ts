import type { OutgoingMessage } from "@svc/contract";
import { fieldsOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";

/** What `Inbound.replyData` said of what is answered. */
export const replyDataOf = ({ replyData }: Pick<OutgoingMessage, "replyData">) => {
  const { messageId: answered, interaction } = fieldsOf(replyData);
  return { messageId: idOf(answered), interaction: idOf(interaction) };
};
