/** The end of `svc init`: the config is written once, whole, and read again as the service will read it; or changed in place. */
import { SvcError } from "@svc/contract";
import { ConfigError, formatProblems, loadConfig, openKeyRing, writeFirstConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { reloadDaemon, type Told } from "../cli/tell-daemon.ts";
import type { Setup } from "./setup.ts";

/** Throws what does not fit together, without a line number of a file that nobody has: the answers are to blame. */
export async function assertValid({ draft }: Setup): Promise<void> {
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
export async function writeAnswers({ home, context, composition, draft }: Setup): Promise<void> {
  const { features, catalogue } = composition;
  const { secrets } = (await draft.load()).core;
  const ring = openKeyRing(home);
  const text = await draft.text((secret) => (secrets.encrypt ? ring.seal(secret) : secret));
  await writeFirstConfig(home, features, text);
  await loadConfig({ home, env: context.env, features, catalogue });
}

/** Undefined: the config says so already. Throws SETTINGS_INVALID, SETTINGS_REFUSED, CONFIG_*; the file is as it was then. */
export async function changeConfig({ home, context, composition, draft }: Setup): Promise<Told | undefined> {
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
