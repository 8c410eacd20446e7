/** `svc plugin install`: fetched, checked, shown, agreed to, and only then on the disk. */
import { EXIT, SvcError } from "@svc/contract";
import { checkPackage } from "../install/check-package.ts";
import { type Installed, installedAt, isUnchanged } from "../install/installed.ts";
import { withPluginLock } from "../install/lock.ts";
import type { PluginPackage } from "../install/package.ts";
import { clearLeftovers, newReleaseName, openPluginsFolder, putPlugin, unwritable } from "../install/place.ts";
import { packageFrom } from "../install/source.ts";
import { type Approval, hashOf } from "../manifest/approval.ts";
import { agreedTo } from "./consent.ts";
import type { PluginCommand, PluginContext } from "./plugin.ts";
import { pluginJson, shownPackage } from "./shown.ts";
import { putIntoForce } from "./put-into-force.ts";

/** Throws PLUGIN_*, what fetching throws, STORE_FULL, HOME_UNWRITABLE; then nothing is changed. */
export const install: PluginCommand = async (context) => {
  const plugin = await packageFrom(context.subject, context);
  await checkPackage(plugin, context);
  const { name, version } = plugin.manifest;
  const before = await installedAt(context.pluginsFolder, name);
  if (!context.json) context.print(shownPackage(plugin, before));
  const isNew = !isSame(plugin, before);
  await agreedTo(plugin, before, context, isNew);
  if (isNew) await place(plugin, before, context);
  const force = await putIntoForce(context);
  if (context.json) {
    const approval = approvalOf(plugin, context);
    context.printJson({ installed: pluginJson(name, approval), changed: isNew, ...force });
  } else {
    context.print(isNew ? `${name} ${version} is installed` : `${name} ${version} was installed already, exactly so`);
    context.print(force.reload);
  }
  return EXIT.ok;
};

const isSame = ({ toml }: PluginPackage, before: Installed | undefined): boolean =>
  before?.isIntact === true && before.approval?.manifest_sha256 === hashOf(toml);

async function place(plugin: PluginPackage, before: Installed | undefined, context: PluginContext): Promise<void> {
  const { pluginsFolder, clock, signal } = context;
  try {
    await openPluginsFolder(pluginsFolder);
    await withPluginLock(pluginsFolder, clock, signal, async () => {
      if (!isUnchanged(before, await installedAt(pluginsFolder, plugin.manifest.name))) throw overtaken();
      await clearLeftovers(pluginsFolder);
      await putPlugin(pluginsFolder, plugin, approvalOf(plugin, context));
    });
  } catch (error) {
    throw unwritable(error);
  }
}

const approvalOf = ({ manifest, toml, source }: PluginPackage, { clock }: PluginContext): Approval => ({
  format: 1,
  release: newReleaseName(),
  manifest,
  manifest_sha256: hashOf(toml),
  source,
  approved_at: new Date(clock.now()).toISOString(),
});

const overtaken = (): SvcError =>
  new SvcError("PLUGIN_CHANGED", "Another command changed this plugin meanwhile; nothing of this one is installed.", {
    hint: "Run it again to see what would change now.",
  });
