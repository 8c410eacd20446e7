/** `svc init` at a terminal: one question after the other, and nothing on disk before the last one is answered. */
import { clack, confirmed } from "../cli/prompts.ts";
import type { Setup } from "./setup.ts";
import { askPublicUrl } from "./steps/address.ts";
import { askChannel } from "./steps/channel.ts";
import { askModel } from "./steps/model.ts";
import { askSandbox } from "./steps/sandbox.ts";

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
