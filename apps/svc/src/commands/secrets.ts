/** `svc secrets set|encrypt|rotate|list`. A value comes from a prompt or a pipe, and goes into the config sealed. */
import {
  listSecrets,
  sealConfigFile,
  type SecretFileOptions,
  type SecretState,
  setConfigSecret,
  typedKey,
} from "@svc/config";
import { EXIT, SvcError } from "@svc/contract";
import { columns } from "../cli/output.ts";
import type { CommandContext } from "../cli/command.ts";
import { readSecret } from "../cli/input.ts";
import { reloadDaemon } from "../service/running-daemon.ts";
import { callHere, offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = ""] = context.args;
  return await ACTIONS[action]!(context);
}

type Action = (context: CommandContext) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { set, encrypt, rotate, list };

async function fileOf(context: CommandContext): Promise<SecretFileOptions> {
  const { home, config } = await offlineOptions(context);
  return { home, ...config };
}

async function set(context: CommandContext): Promise<number> {
  const file = await fileOf(context);
  const key = context.args[1] ?? "";
  // Before the value is asked for: nobody likes to type a long one twice.
  const { name, node } = await typedKey(key, file.features);
  if (!node.marks.secret) {
    throw new SvcError("USAGE", `${name} is not a secret.`, { hint: `Set it with: svc config set ${name} <value>` });
  }
  const value = await readSecret(name);
  const done = await setConfigSecret({ ...file, key, value, env: context.env });
  const { text, report } = await reloadDaemon(context);
  if (context.options.flag("json")) context.printJson({ ...done, beatenBy: done.beatenBy ?? null, reload: report });
  else {
    context.print(
      `${done.key} is set${done.sealed ? ", encrypted" : "; secrets.encrypt is off, so it stands in plain text"}`,
    );
    if (done.beatenBy !== undefined) context.print(`warning: ${done.beatenBy} is set and beats it`);
    context.print(text);
  }
  return EXIT.ok;
}

async function encrypt(context: CommandContext): Promise<number> {
  const { sealed, stillIn } = await sealConfigFile(await fileOf(context));
  if (context.options.flag("json")) context.printJson({ sealed, still_in_lines: stillIn });
  else {
    context.print(sealed.length === 0 ? "no secret stands in plain text" : `encrypted: ${sealed.join(", ")}`);
    if (stillIn.length > 0)
      context.print(`warning: the same text still stands in line ${stillIn.join(", ")}; remove it`);
  }
  return EXIT.ok;
}

/** What is in force does not change, so nobody needs a reload. */
async function rotate(context: CommandContext): Promise<number> {
  const done = await callHere(await offlineOptions(context))({ name: "secrets-rotate" });
  if (context.options.flag("json")) context.printJson(done);
  else {
    const what =
      done.sealed.length === 0 ? "the config has no encrypted secret" : `sealed anew: ${done.sealed.join(", ")}`;
    context.print(`${done.resumed ? "an interrupted rotation is finished" : "there is a new key"}; ${what}`);
    context.print("Backups from before need the old key to be read.");
  }
  return EXIT.ok;
}

async function list(context: CommandContext): Promise<number> {
  const secrets = await listSecrets({ ...(await fileOf(context)), env: context.env });
  if (context.options.flag("json")) {
    context.printJson({
      secrets: secrets.map(({ key, state, variable }) => ({ key, state, variable: variable ?? null })),
    });
  } else context.print(columns(secrets.map((secret) => [secret.key, stateText(secret)])));
  return EXIT.ok;
}

const stateText = ({ state, variable }: SecretState): string =>
  variable === undefined ? STATES[state] : `from the environment: ${variable}`;

const STATES: Readonly<Record<SecretState["state"], string>> = {
  encrypted: "encrypted",
  plain: "in plain text; encrypt it with: svc secrets encrypt",
  unreadable: "encrypted with another key; set it anew",
  environment: "from the environment",
  unset: "not set",
};
