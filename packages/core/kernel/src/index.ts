/** `@svc/kernel`: config, secrets, lifecycle, registry. */
export { DEFAULT_AGENT } from "./config/agent-schema.ts";
export * from "./config/agents.ts";
export * from "./config/core-schema.ts";
export * from "./events/activity.ts";
export { createEventHub, type EventHubOptions } from "./events/hub.ts";
export { timestamp } from "./events/wire.ts";
export type * from "./events/hub.ts";
export * from "./home.ts";
export * from "./clock.ts";
export * from "./lifecycle/channel-id.ts";
export type { LifecycleChange } from "./lifecycle/change.ts";
export type { EnabledFeature } from "./lifecycle/construct.ts";
export { TOOL_NAME, type ReservedNames } from "./lifecycle/contribution-problems.ts";
export * from "./lifecycle/definition-problems.ts";
export * from "./lifecycle/lifecycle.ts";
export * from "./lifecycle/options.ts";
export type { FeatureState, FeatureStatus } from "./lifecycle/status.ts";
export * from "./make-folder.ts";
export * from "./log.ts";
export * from "./log-file.ts";
export * from "./log-line.ts";
export type { LineSink } from "./log-output.ts";
export { asideNumbers, logFilePath } from "./log-file.ts";
export { type Link, LinkedList } from "./linked-list.ts";
export {
  type BeginOptions,
  createInstruments,
  type Instruments,
  type InstrumentsOptions,
  NO_INSTRUMENTS,
  type OpenWork,
  type WatchingObserver,
} from "./observe/instruments.ts";
export type { Backend } from "./observe/backend.ts";
export { logBackend } from "./observe/log-backend.ts";
export { codeOf, watched } from "./observe/watched.ts";
export { Ongoing } from "./ongoing.ts";
export { absentBrowser, type AbsentBrowser } from "./config/browser-backend.ts";
export * from "./redact.ts";
export { redactJson } from "./redact-json.ts";
export { SecretPrint } from "./secret-print.ts";
export { type HashedSecret, hashedSecret } from "./config/hashed-secret.ts";
export * from "./registry/frozen-map.ts";
export * from "./registry/registry.ts";
export { isRoutePath, pathsMeet } from "./registry/route-paths.ts";
export * from "./scope.ts";
export { ClientStates } from "./shared/client-states.ts";
export { FeatureStates } from "./shared/feature-states.ts";
export * from "./config/default-config.ts";
export { applyConfigEdits, type ConfigEdit } from "./config/apply-edits.ts";
export { addConfigItem, type ConfigChange, removeConfigItems, setConfigValues } from "./config/edit-config.ts";
export { editConfigFile, type KeySet, setConfigKey, type SetKeyOptions } from "./config/set-key.ts";
export { type TypedKey, typedKey } from "./config/typed-key.ts";
export { allowedValues, expectation, readText } from "./config/expectation.ts";
export { variableName } from "./config/environment.ts";
export * from "./config/document.ts";
export { badKey, badValue, type Finding } from "./config/finding.ts";
export * from "./config/json-schema.ts";
export * from "./config/load-config.ts";
export type { LoadedConfig, ToolPair } from "./config/loaded-config.ts";
export { LEAST_CHOSEN_CHARS } from "./config/secret-values.ts";
export * from "./config/problem.ts";
export { MASK } from "./config/redacted.ts";
export type { NodeType, SchemaNode } from "./config/schema-node.ts";
export { nearest } from "./config/suggest.ts";
export { isTable, type Path, type Table } from "./config/table.ts";
export { type SchemaKey, walkSchema } from "./config/walk-schema.ts";
export type { ConfigValue } from "./config/toml-text.ts";
export * from "./exclusive-file.ts";
export { type KeyRing, nextKeyFile, openKeyRing } from "./secrets/key-ring.ts";
export { type Rotated, rotateSecretKey, type RotateOptions, type Vault } from "./secrets/rotate.ts";
export { listSecrets, type SecretState } from "./secrets/list-secrets.ts";
export * from "./secrets/seal.ts";
export { type SealedConfig, sealConfigFile } from "./secrets/seal-config.ts";
export type { SecretFileOptions } from "./secrets/secret-file.ts";
export { openSecretKey } from "./secrets/secret-key.ts";
export { type SecretSet, setConfigSecret, type SetSecretOptions } from "./secrets/set-secret.ts";
