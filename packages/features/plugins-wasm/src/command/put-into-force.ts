/** After a change: the feature is turned on where it is off, and a running daemon is told. */
import type { PluginContext } from "./plugin.ts";

export interface InForce {
  /** The config turns plugins on. */
  readonly enabled: boolean;
  /** A sentence. */
  readonly reload: string;
}

/** Throws what the daemon has against it; what was changed stays so. */
export async function putIntoForce(context: PluginContext): Promise<InForce> {
  if (!(await isOn(context))) {
    const reload =
      "Plugins are off in the config, so that it does not run. Turn them on: svc config set plugins.enabled true";
    return { enabled: false, reload };
  }
  return { enabled: true, reload: await context.reload() };
}

async function isOn({ isEnabled, options, json, confirm, enable }: PluginContext): Promise<boolean> {
  if (isEnabled) return true;
  const isAsked = !options.flag("yes") && !json;
  if (isAsked && (await confirm("Plugins are off in the config. Turn them on?")) !== true) return false;
  if (json && !options.flag("yes")) return false;
  await enable();
  return true;
}
