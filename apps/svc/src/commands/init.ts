/**
 * `svc init`: sets up the home by questions at a terminal, by options elsewhere. Where there is a config, what is answered is
 * changed in place, and the rest of it stays.
 */
import { lstatSync, readFileSync } from "node:fs";
import { ConfigError, formatProblems, type Home, homeOf, loadConfig, openKeyRing, writeFirstConfig } from "@svc/config";
import { type Composition, EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import type { CommandContext } from "../cli/command.ts";
import { atTerminal, confirmed } from "../cli/prompts.ts";
import { channelsOf } from "../setup/channels.ts";
import { Draft, type Setup } from "../setup/draft.ts";
import { applyOptions } from "../setup/from-options.ts";
import { demandModel, keyVariable } from "../setup/model.ts";
import { commandWord, parseWords } from "../cli/options.ts";
import { COMMANDS } from "../command-table.ts";
import { reloadDaemon, type Reloaded } from "../service/running-daemon.ts";

export async function run(context: CommandContext): Promise<number> {
  const { env, options } = context;
  const home = homeOf(env);
  assertPossible(context);
  const composition = await context.build.load();
  const draft = new Draft({ home, env, composition, base: await configThere(home, env, composition) });
  // What the environment gets wrong is told before anybody answers a question.
  await draft.load();
  const setup = { context, home, composition, draft, insecure: options.flag("insecure"), generated: new Map() };
  const asks = atTerminal() && !options.flag("yes");
  await answer(setup, asks);
  if (draft.isChange) {
    const change = draft.settings.size === 0 ? undefined : await changeConfig(setup);
    await tell(setup, change === undefined ? "nothing to change in" : "changed");
    if (change && !options.flag("json")) context.print(change.text);
    // It runs already.
    if (change !== undefined && change.report !== null && !options.flag("service")) return EXIT.ok;
  } else {
    await writeAnswers(setup);
    await tell(setup, "wrote");
  }
  return await service(setup, asks);
}

/** Undefined: there is none. Throws what is wrong with it. */
async function configThere(
  home: Home,
  env: CommandContext["env"],
  { features, catalogue }: Composition,
): Promise<string | undefined> {
  // A symbolic link counts, wherever it leads.
  if (lstatSync(home.config, { throwIfNoEntry: false }) === undefined) return undefined;
  await loadConfig({ home, env, features, catalogue });
  return readFileSync(home.config, "utf8").replace(/^\ufeff/, "");
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
  if (!asks || (setup.draft.isChange && setup.draft.settings.size === 0)) return;
  const question = `${setup.draft.isChange ? "Change" : "Write"} ${setup.home.config}?`;
  if (!(await confirmed(question, true))) throw new SvcError("CANCELLED");
}

/** A generated secret is shown this once: in the config it is encrypted. */
async function tell(setup: Setup, verb: "wrote" | "changed" | "nothing to change in"): Promise<void> {
  const { context, home, draft, generated } = setup;
  if (context.options.flag("json")) {
    const secrets = [...generated].map(([key, { secret }]) => [key, secret]);
    context.printJson({ config: home.config, generated: Object.fromEntries(secrets) });
    return;
  }
  context.print(`${verb} ${home.config}`);
  if (verb === "nothing to change in") return;
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
  const { noApproversNote } = await import("../service/governance/channel-section.ts");
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

/** The last step: the service as one of the system's, where this build has a command for that. */
const entry = () => COMMANDS.find((each) => commandWord(each) === "service");

const canInstall = (): boolean => entry()?.actions?.some((action) => action.startsWith("install")) === true;

/** `svc service install`, as if it had been typed. Throws what it throws. */
async function installService({ context }: Setup): Promise<number> {
  const command = entry()!;
  const { run } = await command.load();
  return run({ ...context, ...parseWords(command, ["install"]) });
}

/** Throws the problems of the answers, without line numbers: the file does not exist yet. */
async function assertValid({ draft }: Setup): Promise<void> {
  try {
    await draft.load();
  } catch (error) {
    if (!(error instanceof ConfigError) || error.problems.some(({ env }) => env !== undefined)) throw error;
    const lines = error.problems.map(({ key, message, allowed }) =>
      allowed === undefined ? `${key}: ${message}` : `${key}: ${message} (allowed: ${allowed})`,
    );
    throw new SvcError("USAGE", `These answers make no valid config:\n  ${lines.join("\n  ")}`, {
      hint: "Nothing was written. Every answer has an option: svc init --help. A secret comes by its variable, or later: svc secrets set <key>",
    });
  }
}

/** Throws CONFIG_EXISTS, HOME_UNWRITABLE, SECRET_UNREADABLE. */
async function writeAnswers({ home, context, composition, draft }: Setup): Promise<void> {
  const { features, catalogue } = composition;
  const { secrets } = (await draft.load()).core;
  const ring = openKeyRing(home);
  const text = await draft.text((secret) => (secrets.encrypt ? ring.seal(secret) : secret));
  await writeFirstConfig(home, features, text);
  await loadConfig({ home, env: context.env, features, catalogue });
}

/** Undefined: the config says so already. Throws SETTINGS_INVALID, SETTINGS_REFUSED, CONFIG_*; the file is as it was then. */
async function changeConfig({ home, context, composition, draft }: Setup): Promise<Reloaded | undefined> {
  const { ConfigEditor } = await import("@svc/config/settings");
  const { features, catalogue } = composition;
  const editor = new ConfigEditor({ home, env: context.env, features, catalogue, now: () => systemClock.now() });
  const { revision } = await editor.state();
  const saved = await editor.save({ edits: draft.edits }, revision, "svc init").catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    throw new SvcError("SETTINGS_INVALID", `Nothing was written.\n${formatProblems(error.problems)}`, { cause: error });
  });
  if (saved.version === undefined) return undefined;
  return reloadDaemon(context).catch(async (error: unknown) => {
    await saved.restore();
    const why = error instanceof Error ? error.message.replace(/^It is written, but /, "") : "";
    throw new SvcError("SETTINGS_REFUSED", `The config was not changed: ${why} The file is as it was.`, {
      cause: error,
    });
  });
}
