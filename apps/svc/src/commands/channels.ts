/** `svc channels list|test|setup`: the channels of the config, how each is, and where its platform has to call. */
import { EXIT } from "@svc/contract";
import { columns } from "../cli/columns.ts";
import type { CommandContext } from "../cli/command.ts";
import { lastErrorText, type Past, type PastMessage } from "../cli/last-error.ts";
import { printable } from "../cli/question.ts";
import { channelName } from "../channels/find-channel.ts";
import { openBackend } from "../service/backend.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action, typed = ""] = context.args;
  await using backend = await openBackend(context);
  const json = context.options.flag("json");
  if (action === "list") {
    const { channels: told } = (await backend.call({ name: "channels" })) as unknown as { channels: ChannelLine[] };
    const channels = backend.isDaemon ? told : told.map(asStopped);
    if (json) context.printJson({ channels });
    else context.print(channels.length === 0 ? NONE : printable(table(channels)));
    return EXIT.ok;
  }
  const channel = channelName(typed);
  const name = action === "setup" ? "channel-setup" : "channel-test";
  const report = (await backend.call({ name, body: { channel } })) as unknown as ChannelReport;
  if (json) context.printJson(report);
  else context.print(printable(report.ok ? `${channel}: ${report.says}` : failure(channel, report)));
  return report.ok ? EXIT.ok : EXIT.unavailable;
}

/** Made here to be listed, it looks like one that runs; and nobody is at its address. */
const asStopped = (line: ChannelLine): ChannelLine =>
  line.state === "running" ? { ...line, state: "stopped", reason: "no daemon runs" } : line;

const NONE = "no channel is configured\nWhich there are: svc features";

interface ChannelLine extends Past {
  readonly id: string;
  readonly feature: string;
  readonly state: string;
  readonly last_error: PastMessage | null;
  readonly callback_urls: readonly string[];
  readonly signed: boolean | null;
}

type ChannelReport =
  | { readonly ok: true; readonly says: string }
  | { readonly ok: false; readonly code: string; readonly error: string; readonly hint: string | null };

const table = (channels: readonly ChannelLine[]): string =>
  columns(
    channels.map((channel) => [
      channel.id,
      channel.reason === null ? channel.state : `${channel.state} (${channel.reason})`,
      channel.signed === false ? "NOT SIGNED" : "",
      channel.callback_urls.join(" "),
      lastErrorText(channel, channel.last_error),
    ]),
  );

function failure(channel: string, { code, error, hint }: Extract<ChannelReport, { ok: false }>): string {
  return [`${channel}: ${error} (${code})`, ...(hint === null ? [] : [`  ${hint}`])].join("\n");
}
