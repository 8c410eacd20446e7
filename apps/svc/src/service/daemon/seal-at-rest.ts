/** `secrets.encrypt`: what stands in the config in plain text is sealed in place, comments and all the rest untouched. */
import { SvcError } from "@svc/contract";
import { sealConfigFile } from "@svc/kernel";
import type { Service } from "../service.ts";

/** Never throws: a config that can't be written is the operator's decision, and said. */
export async function sealAtRest({ config, context }: Pick<Service, "config" | "context">): Promise<void> {
  if (!config.core.secrets.encrypt) return;
  const { log, home, composition } = context;
  try {
    const { sealed } = await sealConfigFile({ file: config.file, home, features: composition.features });
    if (sealed.length > 0) log.info("secrets of the config were encrypted", { keys: sealed.join(" ") });
  } catch (error) {
    const why = error instanceof SvcError ? error.message : "something unexpected went wrong";
    log.warn("secrets of the config could not be encrypted; they stay readable in it", { why });
  }
}
