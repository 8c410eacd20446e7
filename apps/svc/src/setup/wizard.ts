/** `svc init` at a terminal: one question after the other, and nothing on disk before the last one is answered. */
import { clack } from "../cli/prompts.ts";
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
  if (!answered.model) await askModel(setup);
  if (!answered.channel) await askChannel(setup);
  if (!answered.publicUrl) await askPublicUrl(setup);
  if (!answered.sandbox) await askSandbox(setup);
}
