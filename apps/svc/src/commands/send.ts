/** `svc send`: a message to somebody on a channel, whichever it is, by the outbox of the service. */
import type { InboxMessageDetail } from "@svc/api";
import { ERRORS, EXIT, SvcError } from "@svc/contract";
import { channelName } from "../service/channels.ts";
import type { CommandContext } from "../cli/command.ts";
import { readText } from "../cli/input.ts";
import { openBackend } from "../service/backend.ts";
import { printable } from "../cli/output.ts";

/** As `channel_send`. */
const MAX_CHARS = 65_536;

/**
 * Exit 0: sent, or kept to be sent. With --wait 75 when it still waits. What the platform refused for good ends with the code of
 * the error, as in the table.
 */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const [typed = "", conversation = "", given = ""] = context.args;
  if (conversation.trim() === "") throw usage("A conversation is not blank: a chat, a room or an address.");
  const files = options.texts("file");
  const text = given === "-" ? await readText(MAX_CHARS) : given;
  if (text.trim() === "" && files.length === 0) throw usage("There is nothing to send: the text is blank.");
  if (text.length > MAX_CHARS) throw usage(`The text has more than ${MAX_CHARS} characters.`);
  const thread = options.text("thread");
  const wait = options.flag("wait");
  const said = { channel: channelName(typed), conversation: conversation.trim(), text, files: [...files], wait };
  await using backend = await openBackend(context);
  const body = { ...said, ...(thread !== undefined && { thread }) };
  const sent = await backend.call({ name: "send", body });
  if (options.flag("json")) context.printJson(sent);
  else context.print(printable(sent.messages.map((line) => lineOf(line, sent.why_waiting)).join("\n")));
  return exitOf(sent.messages, wait);
}

const usage = (message: string): SvcError => new SvcError("USAGE", message, { hint: "See: svc send --help" });

function lineOf(
  { id, state, attempts, error, platform_id: platformId }: InboxMessageDetail,
  why: string | null,
): string {
  const wrong = error === null ? undefined : `${ERRORS[error].sentence} [${error}]`;
  if (state === "sent") return `${id} sent${platformId === null ? "" : ` (platform id ${platformId})`}`;
  if (state !== "waiting") return `${id} ${state}${wrong === undefined ? "" : `: ${wrong}`}`;
  if (why !== null) return `${id} waits: ${why}`;
  if (wrong === undefined) return `${id} waits: the platform has not taken it yet`;
  return `${id} waits: ${wrong} Tried ${attempts} ${attempts === 1 ? "time" : "times"}, and again later: svc inbox show ${id}`;
}

function exitOf(messages: readonly InboxMessageDetail[], wait: boolean): number {
  const ended = messages.find(({ state }) => state === "dead" || state === "dropped");
  if (ended) return ended.error === null ? EXIT.failure : ERRORS[ended.error].exit;
  return wait && messages.some(({ state }) => state === "waiting") ? EXIT.tempFail : EXIT.ok;
}
