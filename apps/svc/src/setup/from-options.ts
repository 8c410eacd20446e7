/** Answers given as options: what each sets in the draft. Whether they make a config together is `Draft.load`'s to say. */
import { SvcError } from "@svc/contract";
import { channelsOf } from "./channels.ts";
import { type AnsweredByOptions, generate, publicUrlProblem, turnOn } from "./wizard.ts";
import { settingOf, type Setup } from "./draft.ts";
import { isPrice, PRICE_KEYS } from "./model.ts";

/** Throws USAGE. Reads the key file, or standard input, which the questions at a terminal need for themselves. */
export async function applyOptions(setup: Setup): Promise<AnsweredByOptions> {
  const { options } = setup.context;
  await modelOptions(setup);
  channelOptions(setup);
  const publicUrl = options.text("public-url");
  if (publicUrl !== undefined && publicUrl !== "none") setup.draft.set("gateway.public_url", checkedUrl(publicUrl));
  const sandbox = options.text("sandbox");
  if (sandbox !== undefined) setup.draft.set("security.sandbox.backend", sandbox);
  for (const assignment of options.texts("set")) setSetting(setup, assignment);
  return {
    model: options.text("model") !== undefined,
    channel: options.text("channel") !== undefined || options.text("webhook-secret") !== undefined,
    publicUrl: publicUrl !== undefined,
    sandbox: sandbox !== undefined,
  };
}

async function modelOptions({ context, draft }: Setup): Promise<void> {
  const { options } = context;
  const given = MODEL_OPTIONS.filter(([option]) => options.text(option) !== undefined);
  if (given.length > 0 && options.text("model") === undefined) throw usage(`--${given[0]![0]} needs --model.`);
  for (const [option, key] of MODEL_OPTIONS) draft.set(key, options.text(option));
  const keyFile = options.text("api-key-file");
  if (keyFile !== undefined) draft.set("model.api_key", await readKey(keyFile));
  const prices = [options.text("price-input"), options.text("price-output")];
  if (prices.every((price) => price === undefined)) return;
  if (!prices.every((price) => price !== undefined && isPrice(price))) {
    throw usage("--price-input and --price-output go together, each a number like 0.25.");
  }
  draft.set(PRICE_KEYS.input, Number(prices[0]));
  draft.set(PRICE_KEYS.output, Number(prices[1]));
}

const MODEL_OPTIONS = [
  ["model", "model.provider"],
  ["model-name", "model.name"],
  ["base-url", "model.base_url"],
] as const;

async function readKey(file: string): Promise<string> {
  const { readSecretFile } = await import("../cli/input.ts");
  return await readSecretFile(file);
}

function channelOptions(setup: Setup): void {
  const { context, composition } = setup;
  const secret = context.options.text("webhook-secret");
  const id = context.options.text("channel") ?? (secret === undefined ? "none" : "webhook");
  if (secret !== undefined && id !== "webhook") throw usage("--webhook-secret goes with --channel webhook.");
  if (secret !== undefined && secret !== "generate" && secret !== "none") {
    throw usage("--webhook-secret takes generate or none.");
  }
  if (id === "none") return;
  const channels = channelsOf(composition.features, composition.catalogue);
  const channel = channels.find((channel) => channel.id === id);
  if (!channel) throw usage(`--channel takes: ${[...channels.map(({ id }) => id), "none"].join(", ")}.`);
  turnOn(setup, channel);
  if (secret !== "none") for (const key of channel.generated) generate(setup, key);
  else if (!setup.insecure) {
    throw usage("Without a secret, anyone who can reach the webhook can send to it. Pass --insecure to confirm.");
  }
}

function checkedUrl(text: string): string {
  const problem = publicUrlProblem(text);
  if (problem !== undefined) throw usage(`--public-url ${problem}.`);
  return text;
}

/** `gateway.port=8080` */
function setSetting({ draft, composition }: Setup, assignment: string): void {
  const at = assignment.indexOf("=");
  if (at < 1) throw usage("--set takes <key>=<value>.");
  const key = assignment.slice(0, at);
  draft.set(key, settingOf(composition.features, key, assignment.slice(at + 1)));
}

const usage = (message: string): SvcError => new SvcError("USAGE", message, { hint: "See: svc init --help" });
