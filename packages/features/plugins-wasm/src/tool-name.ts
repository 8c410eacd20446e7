/**
 * The name a plugin's tool has: a prefix that no tool of svc has, so that a plugin can neither stand in for one, now or after
 * an upgrade, nor stop a start by having the same name, and whoever is asked for approval sees whose tool it is. Manifests of
 * features that list a tool with it are refused when a binary is composed.
 */
const TOOL_PREFIX = "plugin_";

/** So that the tool's name is at most 64 characters. */
export const MAX_PLUGIN_NAME_CHARS = 64 - TOOL_PREFIX.length;

export const toolNameOf = (plugin: string): string => `${TOOL_PREFIX}${plugin}`;
