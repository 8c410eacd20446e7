/** https://docs.slack.dev/reference/methods/files.getUploadURLExternal, files.completeUploadExternal, files.info */
import type { Json } from "@svc/contract";
import { seenText } from "../mrkdwn.ts";
import { badArguments, SlackRefusal } from "../refusal.ts";
import { SLACK_BOT } from "../workspace.ts";
import { conversationAt, isTs, type Method, type MethodCall } from "./method.ts";

export const uploadUrl: Method = {
  scopes: ["files:write"],
  args: ["filename", "length", "snippet_type", "alt_txt", "alt_text"],
  handle({ args, files }) {
    const { id, url } = files.expect(args.needed("filename"), args.whole("length", 0, 1, 1_073_741_824));
    return { upload_url: url, file_id: id };
  },
};

export const completeUpload: Method = {
  scopes: ["files:write"],
  args: ["files", "channel_id", "thread_ts", "channels", "initial_comment", "blocks"],
  handle(call) {
    const { args, files, workspace } = call;
    const shared = namedFiles(args.json("files")).map(({ id, title }) => files.complete(id, title));
    const place = args.text("channel_id");
    if (place !== undefined) {
      const conversation = conversationAt(workspace, place);
      if (conversation.isArchived) throw new SlackRefusal("is_archived");
      if (!conversation.isMember) throw new SlackRefusal("not_in_channel");
      const text = args.raw("initial_comment") ?? "";
      workspace.post(conversation, {
        ts: workspace.nextTs(),
        user: SLACK_BOT.user,
        botId: SLACK_BOT.bot,
        subtype: "file_share",
        text,
        seen: seenText(text),
        buttons: [],
        files: shared,
        ...threadOf(call),
      });
    }
    return { files: shared };
  },
};

function threadOf({ args, workspace }: MethodCall): { threadTs?: string } {
  const ts = args.text("thread_ts");
  if (ts === undefined) return {};
  const conversation = conversationAt(workspace, args.text("channel_id"));
  if (!isTs(ts) || workspace.find(conversation, ts) === undefined) throw new SlackRefusal("invalid_thread_ts");
  return { threadTs: ts };
}

export const info: Method = {
  scopes: ["files:read"],
  args: ["file", "page", "count", "cursor", "limit"],
  handle: ({ args, files }) => ({ file: files.info(args.needed("file", "file_not_found")) }),
};

function namedFiles(list: Json | undefined): { id: string; title: string | undefined }[] {
  if (!Array.isArray(list) || list.length === 0) throw badArguments("missing required field: files");
  return (list as readonly Json[]).map((one) => {
    const { id, title } = (one ?? {}) as { readonly id?: Json; readonly title?: Json };
    if (typeof id !== "string" || (title !== undefined && typeof title !== "string")) throw badArguments("files");
    return { id, title };
  });
}
