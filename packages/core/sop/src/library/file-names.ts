/** What procedures and their files are called. */
export const SOP_TOML = "SOP.toml";
export const SOP_MD = "SOP.md";

/** Of the folder. */
export const SOP_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const NAME_RULE = "a procedure's folder is named a-z 0-9 _ -, beginning with a letter or digit, at most 64";
