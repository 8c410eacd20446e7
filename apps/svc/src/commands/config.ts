/** `svc config check|show|get|set|path|schema`. */
import { existsSync } from "node:fs";
import { EXIT, type Json, SvcError } from "@svc/contract";
import { configJsonSchema, homeOf, setConfigKey, typedKey } from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";
import { fileOption, openContext } from "../service/context.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = ""] = context.args;
  return await ACTIONS[action]!(context);
}

type Action = (context: CommandContext) => number | Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { check, show, get, set, path, schema };

async function check(context: CommandContext): Promise<number> {
  const { config } = await openContext(context, true);
  if (context.options.flag("json")) context.printJson({ ok: true, file: config.file, warnings: config.warnings });
  else {
    for (const warning of config.warnings) context.print(`warning: ${warning}`);
    context.print(`${config.file}: no problems`);
  }
  return EXIT.ok;
}

async function show(context: CommandContext): Promise<number> {
  const { config } = await openContext(context, true);
  context.printJson(config.redacted());
  return EXIT.ok;
}

/** What is in force, secrets as dots: a text as it is, anything else as JSON. */
async function get(context: CommandContext): Promise<number> {
  const { config, composition } = await openContext(context, true);
  const { path, name } = await typedKey(context.args[1] ?? "", composition.features);
  const value = path.reduce<Json | undefined>(
    (holder, part) => (holder as { readonly [key: string | number]: Json } | undefined)?.[part],
    config.redacted(),
  );
  if (value === undefined)
    throw new SvcError("CONFIG_UNSET", undefined, { hint: `Set it with: svc config set ${name}` });
  if (context.options.flag("json") || typeof value !== "string") context.printJson(value);
  else context.print(value);
  return EXIT.ok;
}

async function set(context: CommandContext): Promise<number> {
  const { features, catalogue } = await context.build.load();
  const [, key = "", value = ""] = context.args;
  const place = { home: homeOf(context.env), env: context.env, features, catalogue, ...fileOption(context) };
  const done = await setConfigKey({ ...place, key, value });
  const { reloadDaemon } = await import("../cli/tell-daemon.ts");
  const { text, report } = await reloadDaemon(context);
  const beatenBy = done.config.setBy(done.key);
  if (context.options.flag("json")) context.printJson({ key: done.key, beatenBy: beatenBy ?? null, reload: report });
  else {
    context.print(`${done.key} is set`);
    if (beatenBy !== undefined) context.print(`warning: ${beatenBy} is set and beats it`);
    context.print(text);
  }
  return EXIT.ok;
}

function path(context: CommandContext): number {
  const file = fileOption(context).file ?? homeOf(context.env).config;
  if (context.options.flag("json")) context.printJson({ file, exists: existsSync(file) });
  else context.print(file);
  return EXIT.ok;
}

async function schema(context: CommandContext): Promise<number> {
  const { features } = await context.build.load();
  context.printJson(await configJsonSchema(features));
  return EXIT.ok;
}
