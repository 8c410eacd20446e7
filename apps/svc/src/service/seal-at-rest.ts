/** `secrets.encrypt`: what stands in the config in plain text is sealed in place, comments and all the rest untouched. */
import { SvcError } from "@svc/contract";
import { listSecrets, type LoadedConfig, sealConfigFile } from "@svc/kernel";
import type { ServiceContext } from "./context.ts";

/** Never rejects: a config that can't be written is the operator's decision, and said. */
export async function sealAtRest({ log, home, composition }: ServiceContext, config: LoadedConfig): Promise<void> {
  // The usual start: the file need not be read and parsed again.
  if (!config.hasPlainSecrets) return;
  if (!config.core.secrets.encrypt) return warnOfPlain({ log, home, composition }, config);
  try {
    const { sealed, stillIn } = await sealConfigFile({ file: config.file, home, features: composition.features });
    if (sealed.length > 0) log.info("secrets of the config were encrypted", { keys: sealed.join(" ") });
    if (stillIn.length > 0) {
      log.warn("a secret that was encrypted still stands elsewhere in the config, in a comment perhaps", {
        lines: stillIn.join(" "),
      });
    }
  } catch (error) {
    const why = error instanceof SvcError ? error.message : "something unexpected went wrong";
    log.warn("secrets of the config could not be encrypted; they stay readable in it", { why });
  }
}

/** What can't be revoked once somebody has read it, such as the private key of an account, stays readable by the operator's decision. */
async function warnOfPlain(
  { log, home, composition }: Pick<ServiceContext, "log" | "home" | "composition">,
  { file }: LoadedConfig,
): Promise<void> {
  const secrets = await listSecrets({ home, file, features: composition.features, env: {} }).catch(() => []);
  for (const { key, state, highValue } of secrets) {
    if (highValue !== true || state !== "plain") continue;
    log.error("A SECRET THAT CAN'T BE REVOKED STANDS IN PLAIN TEXT IN THE CONFIG. Set secrets.encrypt = true.", {
      key,
    });
  }
}
