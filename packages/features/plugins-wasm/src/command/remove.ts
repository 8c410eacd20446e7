/** `svc plugin remove`. */
import { EXIT, SvcError } from "@svc/contract";
import * as v from "valibot";
import { clearLeftovers, installedAt, removePlugin, unwritable, withPluginLock } from "../install/place.ts";
import { pluginName } from "../manifest.ts";
import type { PluginCommand, PluginContext } from "./plugin.ts";

/** Throws PLUGIN_UNKNOWN, CANCELLED, HOME_UNWRITABLE, and what a reload throws. */
export const remove: PluginCommand = async (context) => {
  const { subject: name, json, options } = context;
  await known(context);
  const isAsked = !json && !options.flag("yes");
  if (isAsked && (await context.confirm(`Remove ${name}? The agents have its tool no more.`)) === false) {
    context.print("nothing was changed");
    return EXIT.failure;
  }
  await takeAway(context);
  const reload = context.isEnabled ? await context.reload() : "plugins are off in the config";
  if (json) context.printJson({ removed: name, reload });
  else context.print(`${name} is removed\n${reload}`);
  return EXIT.ok;
};

async function takeAway(context: PluginContext): Promise<void> {
  const { pluginsFolder, subject: name, clock, signal } = context;
  try {
    await withPluginLock(pluginsFolder, clock, signal, async () => {
      await known(context);
      await removePlugin(pluginsFolder, name);
      await clearLeftovers(pluginsFolder);
    });
  } catch (error) {
    throw unwritable(error);
  }
}

/** A name that no plugin has is no path either. Throws PLUGIN_UNKNOWN. */
async function known({ pluginsFolder, subject: name }: PluginContext): Promise<void> {
  if (v.is(pluginName, name) && (await installedAt(pluginsFolder, name))) return;
  throw unknownPlugin();
}

export const unknownPlugin = (): SvcError =>
  new SvcError("PLUGIN_UNKNOWN", undefined, { hint: "They are listed by: svc plugin list" });
