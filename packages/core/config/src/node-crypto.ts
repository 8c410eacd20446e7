/** node:crypto where it is needed: loading it takes 8 ms, and a command that reads one key of the config seals nothing. */
export const nodeCrypto = (): typeof import("node:crypto") => process.getBuiltinModule("node:crypto");
