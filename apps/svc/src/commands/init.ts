/** `svc init`: sets up the home by questions at a terminal, by options elsewhere, and never touches a config that is there. */
import { EXIT, SvcError } from "@svc/contract";
import { assertNoConfig, homeOf } from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";
import { atTerminal, confirmed } from "../cli/prompts.ts";
import { channelsOf } from "../setup/channels.ts";
import { Draft } from "../setup/draft.ts";
import { assertValid, writeAnswers } from "../setup/finish.ts";
import { applyOptions } from "../setup/from-options.ts";
import { canInstall, installService } from "../setup/install-service.ts";
import type { Setup } from "../setup/setup.ts";
import { demandModel, keyVariable } from "../setup/steps/model.ts";

export async function run(context: CommandContext): Promise<number> {
  const { env, options } = context;
  const home = homeOf(env);
  assertNoConfig(home);
  assertPossible(context);
  const composition = await context.build.load();
  const draft = new Draft({ home, env, composition });
  // What the environment gets wrong is told before anybody answers a question.
  await draft.load();
  const setup = { context, home, composition, draft, insecure: options.flag("insecure"), generated: new Map() };
  const asks = atTerminal() && !options.flag("yes");
  await answer(setup, asks);
  await writeAnswers(setup);
  await tell(setup);
  return await service(setup, asks);
}

function assertPossible({ options }: CommandContext): void {
  if (options.flag("service") && !canInstall()) throw new SvcError("USAGE", "This build can't install a service.");
  // To take the defaults instead would answer questions that somebody waits for.
  if (process.stdin.isTTY && !process.stdout.isTTY && !options.flag("yes")) {
    throw new SvcError("USAGE", "svc init asks at a terminal, and its output goes elsewhere.", {
      hint: "Without questions: svc init --yes, with the answers as options.",
    });
  }
}

/** Throws before anything is written: CANCELLED, USAGE, and MODEL_* with --test-model. */
async function answer(setup: Setup, asks: boolean): Promise<void> {
  const answered = await applyOptions(setup);
  if (asks) {
    const { askAll } = await import("../setup/wizard.ts");
    await askAll(setup, answered);
  }
  await assertValid(setup);
  if (setup.context.options.flag("test-model")) await demandModel(setup);
  if (asks && !(await confirmed(`Write ${setup.home.config}?`, true))) throw new SvcError("CANCELLED");
}

/** A generated secret is shown this once: in the config it is encrypted. */
async function tell(setup: Setup): Promise<void> {
  const { context, home, draft, generated } = setup;
  if (context.options.flag("json")) {
    const secrets = [...generated].map(([key, { secret }]) => [key, secret]);
    context.printJson({ config: home.config, generated: Object.fromEntries(secrets) });
    return;
  }
  context.print(`wrote ${home.config}`);
  const variable = keyVariable(setup);
  const isUsed = (draft.get("model.provider") ?? "builtin") !== "builtin" && draft.get("model.api_key") === undefined;
  if (variable !== undefined && isUsed)
    context.print(`The API key stays in ${variable}: the service must be started with it.`);
  for (const [key, { secret, use }] of generated) {
    context.print(`${key}, shown this once: ${secret}${use === undefined ? "" : `\n  ${use}`}`);
  }
  await tellApprovers(setup);
}

/** Of the channel that was set up: from a chat without approvers no answer can come. */
async function tellApprovers({ context, composition, draft }: Setup): Promise<void> {
  const { noApproversNote } = await import("../service/governance/no-approvers.ts");
  for (const { id, section, core } of channelsOf(composition.features, composition.catalogue)) {
    const isOn = !core && draft.get(`${section}.enabled`) === true;
    if (isOn && draft.get(`${section}.approvers`) === undefined) context.print(noApproversNote(id));
  }
}

async function service(setup: Setup, asks: boolean): Promise<number> {
  const { context } = setup;
  const next = (): void => {
    if (!context.options.flag("json")) context.print("Next: svc daemon");
  };
  const wanted = context.options.flag("service") || (asks && canInstall() && (await wantsService()));
  if (!wanted) next();
  try {
    return wanted ? await installService(setup) : EXIT.ok;
  } catch (error) {
    // The config is there all the same.
    next();
    throw error;
  }
}

/** The config is written by now: who leaves here has said no to the service, and to nothing else. */
async function wantsService(): Promise<boolean> {
  try {
    return await confirmed("Install svc as a service that starts with this machine?");
  } catch (error) {
    if (error instanceof SvcError && error.code === "CANCELLED") return false;
    throw error;
  }
}
