/** `svc init` at a terminal: one question after the other, and nothing on disk before the last one is answered. */
import { randomBytes } from "node:crypto";
import type { SchemaKey } from "@svc/config";
import { askHidden, askText, choose, clack, confirmed } from "../cli/prompts.ts";
import { readSetting, type Setup } from "./draft.ts";
import { askModel } from "./model.ts";
import { askSandbox } from "./sandbox.ts";
import { type ChannelSetup, channelsOf } from "./channels.ts";

export interface AnsweredByOptions {
  readonly model: boolean;
  readonly channel: boolean;
  readonly publicUrl: boolean;
  readonly sandbox: boolean;
}

/** What an option has answered is not asked. Throws CANCELLED. */
export async function askAll(setup: Setup, answered: AnsweredByOptions): Promise<void> {
  const { intro, log } = await clack();
  intro(`svc: set up ${setup.home.root}`);
  log.message("Nothing is written before the last answer. Ctrl-C leaves everything as it is.");
  const { model, publicUrl, sandbox } = await inForce(setup);
  if (!answered.model && (await wants(setup, `Change the model (${model})?`))) await askModel(setup);
  if (!answered.channel && (await wants(setup, "Add a channel?"))) await askChannel(setup);
  if (!answered.publicUrl && (await wants(setup, `Change the public URL (${publicUrl})?`))) await askPublicUrl(setup);
  if (!answered.sandbox && (await wants(setup, `Change the sandbox (${sandbox})?`))) await askSandbox(setup);
}

/** What is there stays unless a person wants it changed. */
const wants = async ({ draft }: Setup, question: string): Promise<boolean> => !draft.isChange || confirmed(question);

async function inForce({ draft }: Setup): Promise<{ model: string; publicUrl: string; sandbox: string }> {
  const { core } = await draft.load();
  const { provider } = core.model;
  const { name } = core.model as { readonly name?: string };
  return {
    model: name === undefined ? provider : `${provider} / ${name}`,
    publicUrl: core.gateway.public_url ?? "none",
    sandbox: core["security.sandbox"].backend,
  };
}

/** Where the world finds the service, if it does. */
const PUBLIC_URL = "gateway.public_url";

async function askPublicUrl({ draft }: Setup): Promise<void> {
  const text = await askText({
    message: "Public URL that providers call (blank: none)",
    placeholder: "https://svc.example.org",
    check: (text) => (text === "" ? undefined : (publicUrlProblem(text) ?? draft.problemWith(PUBLIC_URL, text))),
  });
  draft.set(PUBLIC_URL, text === "" ? undefined : text);
}

/**
 * A sentence for an address that can't be taken, beyond the rules of the config. Providers sign, but whoever is between them and us
 * reads along, so it must be https.
 */
export function publicUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || isLoopback(url.hostname)) return undefined;
  return "must begin with https:// unless it is this machine's own loopback address";
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The first way in. What a channel must be told is read from its schema. */
async function askChannel(setup: Setup): Promise<void> {
  const { features, catalogue } = setup.composition;
  const channels = channelsOf(features, catalogue);
  const id = await choose("Where do messages come from first?", [
    ...channels.map(({ id, summary }) => ({ value: id, label: id, hint: summary })),
    { value: "none", label: "later", hint: "paired devices can post to /webhook all the same" },
  ]);
  const channel = channels.find((channel) => channel.id === id);
  if (!channel) return;
  turnOn(setup, channel);
  for (const key of channel.asked) await askKey(setup, key);
  for (const key of channel.generated) await askSecret(setup, key);
}

/** A section of a feature with nothing in it would not be written at all. */
export function turnOn({ draft }: Setup, { core, section }: ChannelSetup): void {
  if (!core) draft.set(`${section}.enabled`, true);
}

export function generate({ draft, generated }: Setup, { key, node }: SchemaKey): void {
  const secret = randomBytes(32).toString("hex");
  draft.set(key, secret);
  generated.set(key, { secret, use: node.description });
}

async function askKey({ draft, insecure }: Setup, schemaKey: SchemaKey): Promise<void> {
  const { key, node } = schemaKey;
  const message = node.description === undefined ? key : `${key}: ${node.description}`;
  if (node.type === "boolean") return draft.set(key, await confirmed(message));
  if (node.type === "choice") {
    const choices = (node.choices ?? []).map((choice) => ({ value: String(choice), label: String(choice) }));
    return draft.set(key, readSetting(node, await choose(message, choices)));
  }
  const isMissing = (text: string): boolean => text === "" && node.marks.secret === true && !insecure;
  const check = (text: string): string | undefined | Promise<string | undefined> =>
    isMissing(text) ? BLANK : draft.problemWith(key, readSetting(node, text));
  const text = node.marks.secret ? await askHidden({ message, check }) : await askText({ message, check });
  draft.set(key, text === "" && !node.required ? undefined : readSetting(node, text));
}

const BLANK = "a blank secret is no secret; --insecure lets one do without";

/** A secret of ours: made, typed in, or, for who insists, none. */
async function askSecret(setup: Setup, schemaKey: SchemaKey): Promise<void> {
  const { draft, insecure } = setup;
  const { key, node } = schemaKey;
  const how = await choose(`${key}: ${node.description ?? "a secret"}`, [
    { value: "generate", label: "generate one", hint: "it is shown once, at the end" },
    { value: "type", label: "type one" },
    ...(insecure ? [{ value: "none", label: "none", hint: "anyone who can reach the address can send" }] : []),
  ]);
  if (how === "generate") generate(setup, schemaKey);
  else if (how === "type") {
    const check = (text: string): string | undefined | Promise<string | undefined> =>
      text === "" ? BLANK : draft.problemWith(key, text);
    draft.set(key, await askHidden({ message: `${key}, typed unseen`, check }));
  }
}
