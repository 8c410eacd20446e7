/** `svc channels add <name>`: writes a channel's section into the config that is there; its comments and everything else stay. */
import { randomBytes } from "node:crypto";
import { type ConfigEdit, ConfigError, formatProblems, readText, type SchemaKey, typedKey } from "@svc/config";
import { ConfigEditor } from "@svc/config/settings";
import { EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import type { CommandContext } from "../cli/command.ts";
import { askHidden, askText, atTerminal } from "../cli/prompts.ts";
import { readSecretFile } from "../cli/input.ts";
import { reloadDaemon } from "../service/running-daemon.ts";
import { channelName } from "../service/channels.ts";
import { offlineOptions } from "../service/handlers/call-here.ts";
import { type ChannelSetup, channelsOf } from "../setup/channels.ts";

type Values = Map<string, { readonly path: readonly string[]; readonly value: unknown }>;

/** Throws USAGE, SETTINGS_INVALID, CONFIG_*; nothing is written then, or, where the daemon refuses it, it is taken back. */
export async function addChannel(context: CommandContext, typed: string): Promise<number> {
  const { home, config } = await offlineOptions(context);
  const channel = channelOf(typed, config);
  const values: Values = new Map();
  const put = ({ key, path }: SchemaKey, value: unknown): void => void values.set(key, { path, value });
  await fromOptions(context, config.features, channel, values);
  const editor = new ConfigEditor({ home, ...config, now: () => systemClock.now() });
  const known = new Set((await editor.state()).secrets);
  const isSet = ({ key, node }: SchemaKey): boolean =>
    values.has(key) || (node.marks.secret === true && known.has(key));
  const generated: [string, string][] = [];
  for (const key of channel.generated) {
    if (!key.node.required || isSet(key)) continue;
    const secret = randomBytes(32).toString("hex");
    put(key, secret);
    generated.push([key.key, secret]);
  }
  if (atTerminal() && !context.options.flag("yes")) {
    for (const key of channel.asked) if (!isSet(key)) await ask(key, (value) => put(key, value));
  }
  const enabled = { path: [...channel.section.split("."), "enabled"], value: true };
  const edits = [...(channel.core ? [] : [enabled]), ...values.values()] as ConfigEdit[];
  const { revision } = await editor.state();
  const saved = await editor.save({ edits }, revision, "svc channels add").catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    throw new SvcError("SETTINGS_INVALID", `Nothing was written.\n${formatProblems(error.problems)}`, {
      hint: "Set a key with --set <key>=<value>, a secret with --secret-file <key>=<file>.",
      cause: error,
    });
  });
  const reload = await reloadDaemon(context).catch(async (error: unknown) => {
    await saved.restore();
    const why = error instanceof Error ? error.message.replace(/^It is written, but /, "") : "";
    throw new SvcError("SETTINGS_REFUSED", `The channel was not added: ${why} The file is as it was.`, {
      cause: error,
    });
  });
  if (context.options.flag("json")) {
    context.printJson({
      channel: channel.id,
      section: channel.section,
      generated: Object.fromEntries(generated),
      reload: reload.report,
    });
  } else {
    context.print(`added [${channel.section}]`);
    for (const [key, secret] of generated) context.print(`${key}, shown this once: ${secret}`);
    context.print(reload.text);
    context.print(`Next: svc channels test ${channel.id}`);
  }
  return EXIT.ok;
}

type ConfigOptions = Awaited<ReturnType<typeof offlineOptions>>["config"];

/** By its id, its section's name, or what its users call it. */
function channelOf(typed: string, { features, catalogue }: ConfigOptions): ChannelSetup {
  const name = channelName(typed);
  const aliased = catalogue.map(({ aliases }) => aliases?.[name]).find((section) => section !== undefined);
  const channels = channelsOf(features, catalogue);
  const found = channels.find(({ id, section }) => id === name || section === aliased);
  if (found) return found;
  const absent = catalogue.find(
    ({ kind, sections }) =>
      kind === "channel" && sections.some((section) => section === (aliased ?? `channels_config.${name}`)),
  );
  if (absent && !absent.planned) {
    throw new SvcError("CHANNEL_UNKNOWN", `The channel ${absent.flag} is not in this build.`, {
      hint: `Build it in: ${absent.build}`,
    });
  }
  throw new SvcError("CHANNEL_UNKNOWN", "There is no channel of that name.", {
    hint: `Channels of this build: ${channels.map(({ id }) => id).join(", ")}.`,
  });
}

/** `--set allowed_users=1,2`, `--secret-file bot_token=-`: keys of the channel's section. */
async function fromOptions(
  { options }: CommandContext,
  features: ConfigOptions["features"],
  channel: ChannelSetup,
  values: Values,
): Promise<void> {
  const keyOf = async (name: string) => typedKey(`${channel.section}.${name}`, features);
  for (const [name, text] of options.texts("set").map(pairOf)) {
    const { path, name: key, node } = await keyOf(name);
    if (node.marks.secret) {
      throw new SvcError("USAGE", `${name} is a secret and is not taken as an argument.`, {
        hint: `From a file or a pipe: --secret-file ${name}=-`,
      });
    }
    values.set(key, { path: path.map(String), value: readText(node, text)?.value ?? text });
  }
  for (const [name, file] of options.texts("secret-file").map(pairOf)) {
    const { path, name: key, node } = await keyOf(name);
    if (!node.marks.secret) throw new SvcError("USAGE", `${name} is not a secret.`, { hint: `--set ${name}=<value>` });
    values.set(key, { path: path.map(String), value: await readSecretFile(file) });
  }
}

function pairOf(assignment: string): [string, string] {
  const at = assignment.indexOf("=");
  if (at < 1) throw new SvcError("USAGE", "--set and --secret-file take <key>=<value>.");
  return [assignment.slice(0, at), assignment.slice(at + 1)];
}

/** Blank leaves out what may be left out. */
async function ask({ key, node }: SchemaKey, put: (value: unknown) => void): Promise<void> {
  const message = node.description === undefined ? key : `${key}: ${node.description}`;
  const check = (text: string): string | undefined => (text === "" && node.required ? "a value is needed" : undefined);
  const text = node.marks.secret ? await askHidden({ message, check }) : await askText({ message, check });
  if (text !== "") put(readText(node, text)?.value ?? text);
}
