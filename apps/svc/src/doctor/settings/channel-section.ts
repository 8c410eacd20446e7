/** A channel's section as the checks read it: by the keys that channels have in common, whichever platform it is. */
import type { Settings } from "./settings.ts";

export interface ChannelSection {
  /** e.g. `channels_config.webhook`. */
  readonly name: string;
  /** Its keys as they were validated. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** The list that says who may write to the agent; undefined: it has none. */
  readonly allowed: { readonly key: string; readonly entries: readonly string[] } | undefined;
  readonly approvers: readonly string[];
}

/** Of the channels that are on. Two packages may speak to one platform, in one section. */
export function channelSections({ config, catalogue }: Settings): ChannelSection[] {
  const names = catalogue.flatMap(({ kind, sections }) => (kind === "channel" ? sections : []));
  return [...new Set(names)].flatMap((name) => {
    const keys = config.section(name) as ChannelSection["keys"] | undefined;
    return keys === undefined ? [] : [{ name, keys, ...listsOf(keys) }];
  });
}

function listsOf(keys: ChannelSection["keys"]): Pick<ChannelSection, "allowed" | "approvers"> {
  const lists = Object.entries(keys).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  // `allowed_targets` is about what goes out.
  const allowed = lists.find(([key]) => key.startsWith("allowed_") && key !== "allowed_targets");
  return {
    allowed: allowed && { key: allowed[0], entries: allowed[1] },
    approvers: lists.find(([key]) => key === "approvers")?.[1] ?? [],
  };
}
