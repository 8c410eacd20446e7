/** `svc channels list|add|test|setup|link|verify`: the channels of the config, how each is, and where its platform has to call. */
import type { ChannelStatus } from "@svc/api";
import type { ControlInput, PlatformAnswer } from "@svc/api/control";
import { EXIT, type LinkState, SvcError, type VerificationState } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { columns, lastErrorText, printable } from "../cli/output.ts";
import { atTerminal, confirmed } from "../cli/prompts.ts";
import { channelName } from "../service/channels.ts";
import { type Backend, openBackend } from "../service/backend.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action, typed = ""] = context.args;
  if (action === "add") return await (await import("./add-channel.ts")).addChannel(context, typed);
  await using backend = await openBackend(context);
  const json = context.options.flag("json");
  if (action === "list") {
    const { channels: listed } = await backend.call({ name: "channels" });
    const channels = backend.isDaemon ? listed : listed.map(asStopped);
    if (json) context.printJson({ channels });
    else context.print(channels.length === 0 ? NONE : printable(table(channels)));
    return EXIT.ok;
  }
  const channel = channelName(typed);
  if (action === "link") return await link(context, backend, channel);
  if (action === "verify") return await verify(context, backend, channel);
  const name = action === "setup" ? "channel-setup" : "channel-test";
  const report = await backend.call({ name, body: { channel } });
  if (json) context.printJson(report);
  else context.print(printable(report.ok ? `${channel}: ${report.says}` : failure(channel, report)));
  return report.ok ? EXIT.ok : EXIT.unavailable;
}

const LOOK_AGAIN_MS = 1_000;

/** Shows the code that the phone scans, or the one that is typed there, until the account is linked. */
async function link(context: CommandContext, backend: Backend, channel: string): Promise<number> {
  if (!backend.isDaemon) throw new SvcError("NOT_RUNNING");
  const json = context.options.flag("json");
  const call = (step: "begin" | "state"): Promise<LinkState> =>
    backend.call({ name: "channel-link", body: { channel, step } });
  let shown = "";
  for (let state = await call("begin"); ; state = await call("state")) {
    const text = json ? JSON.stringify(state) : linkText(state);
    if (text !== shown) {
      shown = text;
      if (json) context.printJson(state);
      else context.print(text);
    }
    if (state.stage === "done") return EXIT.ok;
    if (state.stage === "ended") return EXIT.unavailable;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

function linkText(state: LinkState): string {
  switch (state.stage) {
    case "waiting":
      return "Connecting to the platform.";
    case "scan":
      return `${qrText(state.qr)}\n${printable(state.how)}`;
    case "code":
      return printable(`${state.how}\n  ${state.code}`);
    case "done":
      return printable(`linked: ${state.account}`);
    case "ended":
      return printable(`not linked: ${state.reason}`);
  }
}

/** Shows the QR code, or compares symbols: both sides have to say that they are the same. */
async function verify(context: CommandContext, backend: Backend, channel: string): Promise<number> {
  if (!backend.isDaemon) throw new SvcError("NOT_RUNNING");
  if (!atTerminal()) throw new SvcError("USAGE", "A verification needs a terminal: it shows a code, or symbols.");
  const call = (body: Omit<ControlInput<"channel-verify">, "channel">): Promise<VerificationState> =>
    backend.call({ name: "channel-verify", body: { channel, ...body } });
  const byEmoji = context.options.flag("emoji");
  let isCodeShown = false;
  let state = await call({ step: "begin" });
  context.print("Waiting for the other device. Accept the verification there.");
  for (;;) {
    const { stage, peer } = state;
    if (stage === "done") {
      context.print(printable(`verified with ${peer}`));
      return EXIT.ok;
    }
    if (stage === "cancelled") {
      context.print(printable(`not verified: ${peer} ended it (${state.reason})`));
      return EXIT.unavailable;
    }
    if (stage === "scan" && byEmoji) state = await call({ step: "compare" });
    else if (stage === "scan" && !isCodeShown) {
      isCodeShown = true;
      context.print(qrText(state.qr));
      context.print(printable(`Scan it with ${peer}, or choose emoji there.`));
    } else if (stage === "scanned") {
      const matches = await confirmed(printable(`Does ${peer} say that the code is right?`));
      state = await call({ step: "answer", matches });
    } else if (stage === "compare") {
      context.print(printable(`${peer} shows these symbols, in this order:`));
      context.print(printable(state.symbols.map(({ symbol, name }) => `  ${symbol}  ${name}`).join("\n")));
      state = await call({ step: "answer", matches: await confirmed("Does the other device show the same?") });
    } else {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      state = await call({ step: "state" });
    }
  }
}

const QR_MARGIN = 2;

/** Half blocks, two rows in one line: light modules are drawn, for the usual light-on-dark terminal. */
export function qrText(rows: readonly string[]): string {
  const width = (rows[0]?.length ?? 0) + 2 * QR_MARGIN;
  const blank = Array.from({ length: QR_MARGIN }, () => "0".repeat(width));
  const side = "0".repeat(QR_MARGIN);
  const all = [...blank, ...rows.map((row) => side + row + side), ...blank];
  const lines: string[] = [];
  for (let at = 0; at < all.length; at += 2) {
    const [upper = "", lower = "1".repeat(width)] = [all[at], all[at + 1]];
    lines.push(Array.from(upper, (module, column) => BLOCKS[`${module}${lower[column]}`] ?? " ").join(""));
  }
  return lines.map((line) => `  ${line}`).join("\n");
}

/** By upper and lower module. */
const BLOCKS: Readonly<Record<string, string>> = { "00": "█", "01": "▀", "10": "▄", "11": " " };

/** Made here to be listed, it looks like one that runs; and nobody is at its address. */
const asStopped = (line: ChannelStatus): ChannelStatus =>
  line.state === "running" ? { ...line, state: "stopped", reason: "no daemon runs" } : line;

const NONE = "no channel is configured\nWhich there are: svc features";

const table = (channels: readonly ChannelStatus[]): string =>
  columns(
    channels.map((channel) => [
      channel.id,
      channel.reason === null ? channel.state : `${channel.state} (${channel.reason})`,
      channel.signed === false ? "NOT SIGNED" : "",
      channel.callback_urls.join(" "),
      lastErrorText(channel, channel.last_error),
    ]),
  );

function failure(channel: string, { code, error, hint }: Extract<PlatformAnswer, { ok: false }>): string {
  return [`${channel}: ${error} (${code})`, ...(hint === null ? [] : [`  ${hint}`])].join("\n");
}
