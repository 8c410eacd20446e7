import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";

/**
 * The name a feature's channel has in `Conversation.channel`, in `channels` of an event and in `svc channels`: the last
 * part of its config section (`channels_config.chat` → `chat`), else the feature's id without `channel-`.
 */
export function channelIdOf(definition: Pick<FeatureDefinition, "id" | "section" | "extends">): string {
  const section = definition.section ?? definition.extends ?? "";
  const [, name] = /^channels_config\.(.+)$/.exec(section) ?? [];
  return name ?? definition.id.replace(/^channel-/, "").replaceAll("-", "_");
}

/** Those of a feature that may not be in the build: one for each section of its manifest. */
export const channelIdsOf = ({ id, sections }: Pick<CatalogueEntry, "id" | "sections">): string[] =>
  sections.length === 0 ? [channelIdOf({ id })] : sections.map((section) => channelIdOf({ id, section }));
