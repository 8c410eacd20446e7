import type { Logger } from "@svc/contract";

/** Whether the bot listens on a server. Told once for each, as it may be a mistake in the config. */
export function guildGate(allowed: readonly string[] | undefined, log: Logger): (guildId: string) => boolean {
  const told = new Set<string>();
  return (guildId) => {
    if (allowed === undefined || allowed.includes(guildId)) return true;
    if (!told.has(guildId) && told.size < MAX_TOLD) {
      told.add(guildId);
      log.info("a server is not among allowed_guilds; nobody is heard there", { guild: guildId });
    }
    return false;
  };
}

const MAX_TOLD = 100;
