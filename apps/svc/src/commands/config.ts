/** `svc config check|show|get|set|path|schema`. */
import { existsSync } from "node:fs";
import type { LoadedConfig } from "@svc/config";
import { homeOf } from "@svc/config/home";
import { loadConfig, typedKey } from "@svc/config/load";
import { EXIT, type Json, SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { fileOption } from "../cli/options.ts";
import { offlineOptions } from "../service/handlers/call-here.ts";

export async function run(context: CommandContext): Promise<number> {
  const [action = ""] = context.args;
  return await ACTIONS[action]!(context);
}

type Action = (context: CommandContext) => number | Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { check, show, get, set, path, schema };

async function load(context: CommandContext): Promise<LoadedConfig> {
  const { home, config } = await offlineOptions(context);
  return loadConfig({ home, ...config });
}

async function check(context: CommandContext): Promise<number> {
  const config = await load(context);
  if (context.options.flag("json")) context.printJson({ ok: true, file: config.file, warnings: config.warnings });
  else {
    for (const warning of config.warnings) context.print(`warning: ${warning}`);
    context.print(`${config.file}: no problems`);
  }
  return EXIT.ok;
}

async function show(context: CommandContext): Promise<number> {
  context.printJson((await load(context)).redacted());
  return EXIT.ok;
}

/** What is in force, secrets as dots: a text as it is, anything else as JSON. */
async function get(context: CommandContext): Promise<number> {
  const { features } = await context.build.load();
  const { path, name } = await typedKey(context.args[1] ?? "", features);
  const value = path.reduce<Json | undefined>(
    (holder, part) => (holder as { readonly [key: string | number]: Json } | undefined)?.[part],
    (await load(context)).redacted(),
  );
  if (value === undefined)
    throw new SvcError("CONFIG_UNSET", undefined, { hint: `Set it with: svc config set ${name}` });
  if (context.options.flag("json") || typeof value !== "string") context.printJson(value);
  else context.print(value);
  return EXIT.ok;
}

async function set(context: CommandContext): Promise<number> {
  const [, key = "", value = ""] = context.args;
  const { home, config } = await offlineOptions(context);
  const { setConfigKey } = await import("@svc/config");
  const done = await setConfigKey({ home, ...config, key, value });
  const { reloadDaemon } = await import("../service/running-daemon.ts");
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
  const { configJsonSchema } = await import("@svc/config");
  context.printJson(await configJsonSchema(features));
  return EXIT.ok;
}
