/** What `pnpm new` can make. */
export const KINDS = ["feature", "channel", "tool", "plugin"] as const;
export type Kind = (typeof KINDS)[number];

/** Feature ids say their kind in front; a plain feature's is its name. */
export const PREFIX: Readonly<Record<Kind, string>> = { feature: "", channel: "channel-", tool: "tool-", plugin: "" };
