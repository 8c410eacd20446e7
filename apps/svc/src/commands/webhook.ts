/** `svc webhook send`: one delivery as the platform would make it, to try a set-up before the platform is connected. */
import { EXIT, SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { loadConfig } from "@svc/config";
import { channelName } from "../channels/find-channel.ts";
import { type SampleAnswer, sendSample } from "../channels/sample.ts";
import { withOfflineChannels } from "../channels/offline-registry.ts";
import type { CommandContext } from "../cli/command.ts";
import { printable } from "../cli/question.ts";
import { type Place, placeOf } from "../service/handlers/place.ts";

/** Exit 0 when the delivery was answered 200, 1 when it was answered otherwise. */
export async function run(context: CommandContext): Promise<number> {
  const [, typed = ""] = context.args;
  const text = context.options.text("text");
  if (text === undefined || text.trim() === "") throw new SvcError("USAGE", "--text says what the message is to say.");
  const place = await placeOf(context);
  const composition = await context.build.load();
  const config = await loadConfig({ home: place.home, ...place.config });
  const sample = { channel: channelName(typed), text, from: context.options.text("from") };
  const base = context.options.text("url") ?? (await daemonUrl(place));
  if (!isBase(base)) throw new SvcError("USAGE", "--url takes an http:// or https:// URL without a query.");
  const answer = await withOfflineChannels({ home: place.home, composition, config }, (registry) =>
    sendSample(registry, { ...sample, base }),
  );
  if (context.options.flag("json")) context.printJson(answer);
  else context.print(printable(textOf(answer)));
  return answer.status === 200 ? EXIT.ok : EXIT.failure;
}

/** Behind a query the channel's path would be a part of that. */
function isBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}

/** Throws NOT_RUNNING. */
async function daemonUrl({ home }: Place): Promise<string> {
  try {
    return ((await callDaemon({ socketFile: home.controlSocket, name: "status" })) as { url: string }).url;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "NOT_RUNNING") throw error;
    throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon; or say where it is with --url." });
  }
}

function textOf({ url, status, body, took_ms: tookMs }: SampleAnswer): string {
  const said = `${url} answered ${status} in ${tookMs} ms: ${body}`;
  if (status === 200)
    return `${said}\nWhat became of it: svc inbox list. Who is not on the channel's list is not in there.`;
  if (status === 401) return `${said}\nThe running service has another secret than this config.`;
  return said;
}
