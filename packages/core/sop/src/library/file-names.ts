/** The files of a procedure, in its folder. */
export const SOP_TOML = "SOP.toml";
export const SOP_MD = "SOP.md";
