/** `@svc/config`: the configuration of a home: its file, environment, secrets, and what is wrong with it. */
export { DEFAULT_AGENT } from "./agent-schema.ts";
export * from "./agents.ts";
export { absentBrowser, type AbsentBrowser, type Backend } from "./backends.ts";
export * from "./core-schema.ts";
export * from "./default-config.ts";
export * from "./document.ts";
export {
  addConfigItem,
  applyConfigEdits,
  type ConfigChange,
  type ConfigEdit,
  removeConfigItems,
  setConfigValues,
} from "./edit-config.ts";
export { variableName } from "./environment.ts";
export { type HashedSecret, hashedSecret } from "./hashed-secret.ts";
export { createExclusively, makeFolder, removeDrafts, replaceFile, syncDirectory } from "./home-files.ts";
export * from "./home.ts";
export * from "./json-schema.ts";
export { type TypedKey, typedKey } from "./key-text.ts";
export * from "./load-config.ts";
export type { LoadedConfig, ToolPair } from "./loaded-config.ts";
export {
  badKey,
  badValue,
  ConfigError,
  type Finding,
  formatProblems,
  nearest,
  type Problem,
  report,
  type ReportContext,
} from "./problem.ts";
export { MASK } from "./redacted.ts";
export { allowedValues, expectation, readText, type SchemaNode } from "./schema-node.ts";
export { LEAST_CHOSEN_CHARS } from "./secret-values.ts";
export {
  isSealed,
  type KeyRing,
  nextKeyFile,
  openKeyRing,
  openSecret,
  openSecretKey,
  sealSecret,
} from "./secrets/key-ring.ts";
export {
  createRedactor,
  DOTS,
  type KnownSecret,
  redactJson,
  type Redactor,
  redactPatterns,
  SecretPrint,
} from "./secrets/redact.ts";
export { type Rotated, rotateSecretKey, type RotateOptions, type Vault } from "./secrets/rotate.ts";
export {
  listSecrets,
  type SealedConfig,
  sealConfigFile,
  type SecretFileOptions,
  type SecretState,
} from "./secrets/secret-file.ts";
export { type SecretSet, setConfigSecret, type SetSecretOptions } from "./secrets/set-secret.ts";
export { type SchemaKey, walkSchema } from "./sections.ts";
export { editConfigFile, type KeySet, setConfigKey, type SetKeyOptions } from "./set-key.ts";
export { isTable, type Path, type Table } from "./table.ts";
export type { ConfigValue } from "./toml.ts";
