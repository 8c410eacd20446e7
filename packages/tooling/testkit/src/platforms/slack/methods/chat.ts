/** https://docs.slack.dev/reference/methods/chat.postMessage, chat.update */
import type { Json } from "@svc/contract";
import { seenBlocks, type SeenBlocks } from "../blocks.ts";
import { seenText } from "../mrkdwn.ts";
import { SlackRefusal } from "../refusal.ts";
import { messageJson, repliesOf, SLACK_BOT } from "../workspace.ts";
import { conversationAt, isOurs, isTs, type Method, type MethodCall } from "./method.ts";

const MOST_CHARS = 40_000;
/** "The `text` field cannot exceed 4,000 characters"; what it counts are bytes of the escaped text. */
const MOST_UPDATE_BYTES = 4_000;

const CONTENT = [
  "channel",
  "text",
  "blocks",
  "attachments",
  "metadata",
  "parse",
  "link_names",
  "as_user",
  "reply_broadcast",
  "markdown_text",
];

export const postMessage: Method = {
  scopes: ["chat:write"],
  args: [...CONTENT, "thread_ts", "mrkdwn", "unfurl_links", "unfurl_media", "username", "icon_emoji", "icon_url"],
  handle(call) {
    const { args, workspace } = call;
    const place = args.needed("channel", "channel_not_found");
    const conversation = workspace.people.has(place) ? workspace.dm(place) : conversationAt(workspace, place, true);
    if (conversation.isArchived) throw new SlackRefusal("is_archived");
    if (!conversation.isMember) throw new SlackRefusal("not_in_channel");
    const threadTs = args.text("thread_ts");
    if (threadTs !== undefined && !isTs(threadTs)) throw new SlackRefusal("invalid_thread_ts");
    if (threadTs !== undefined && workspace.find(conversation, threadTs) === undefined) {
      throw new SlackRefusal("thread_not_found");
    }
    const content = contentOf(call);
    const isCut = content.text.length > MOST_CHARS;
    const stored = workspace.post(conversation, {
      ...content,
      text: content.text.slice(0, MOST_CHARS),
      seen: isCut && content.blocks === undefined ? seenText(content.text.slice(0, MOST_CHARS)) : content.seen,
      ts: workspace.nextTs(),
      user: SLACK_BOT.user,
      botId: SLACK_BOT.bot,
      ...(threadTs !== undefined && { threadTs }),
    });
    return {
      channel: conversation.id,
      ts: stored.ts,
      message: messageJson(stored),
      ...(isCut && { warning: "message_truncated", response_metadata: { warnings: ["message_truncated"] } }),
    };
  },
};

export const update: Method = {
  scopes: ["chat:write"],
  args: [...CONTENT, "ts", "file_ids"],
  handle(call) {
    const { args, workspace } = call;
    const conversation = conversationAt(workspace, args.needed("channel", "channel_not_found"));
    const ts = args.needed("ts", "message_not_found");
    if (conversation.isArchived) throw new SlackRefusal("is_inactive");
    const stored = workspace.find(conversation, ts);
    if (stored === undefined) throw new SlackRefusal("message_not_found");
    if (!isOurs(stored)) throw new SlackRefusal("cant_update_message");
    if (Buffer.byteLength(args.raw("text") ?? "") > MOST_UPDATE_BYTES) throw new SlackRefusal("msg_too_long");
    const { text, seen, buttons, blocks } = contentOf(call);
    Object.assign(stored, { text, seen, buttons, edits: stored.edits + 1 });
    // A text without blocks takes away those that were there.
    if (blocks === undefined) delete stored.blocks;
    else stored.blocks = blocks;
    return { channel: conversation.id, ts, text, message: messageJson(stored, repliesOf(conversation, ts)) };
  },
};

interface Content extends Omit<SeenBlocks, "text"> {
  readonly text: string;
  readonly seen: string;
  readonly blocks?: Json;
}

function contentOf({ args }: MethodCall): Content {
  if (args.text("markdown_text") !== undefined) throw new SlackRefusal("markdown_text_conflict");
  for (const name of ["mrkdwn", "unfurl_links", "unfurl_media", "link_names", "reply_broadcast"])
    args.flag(name, false);
  if (!["none", "full", undefined].includes(args.text("parse"))) throw new SlackRefusal("invalid_arguments");
  const text = args.raw("text") ?? "";
  const blocks = args.json("blocks");
  const hasBlocks = Array.isArray(blocks) && blocks.length > 0;
  if (text.trim() === "" && !hasBlocks) throw new SlackRefusal("no_text");
  if (blocks === undefined) return { text, seen: seenText(text), buttons: [] };
  const seen = seenBlocks(blocks);
  if (!hasBlocks) return { text, seen: seenText(text), buttons: [] };
  return { text, seen: seen.text, buttons: seen.buttons, blocks };
}
