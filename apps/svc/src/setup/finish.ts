/** The end of `svc init`: the config is written once, whole, and read again as the service will read it. */
import { SvcError } from "@svc/contract";
import { ConfigError, loadConfig, openKeyRing, writeFirstConfig } from "@svc/kernel";
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
