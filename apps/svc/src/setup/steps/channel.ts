/** The first way in. What a channel must be told is read from its schema. */
import { randomBytes } from "node:crypto";
import type { SchemaKey } from "@svc/config";
import { askHidden, askText, choose, confirmed } from "../../cli/prompts.ts";
import { type ChannelSetup, channelsOf } from "../channels.ts";
import { readSetting } from "../settings.ts";
import type { Setup } from "../setup.ts";

export async function askChannel(setup: Setup): Promise<void> {
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
