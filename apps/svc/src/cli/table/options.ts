/** Options that several commands take. */
export const JSON_OPTION = ["--json", "Print JSON"] as const;
export const CONFIG_OPTION = ["--config <file>", "Use this file instead of config.toml in the home"] as const;
export const YES_OPTION = ["--yes", "Do not ask"] as const;
