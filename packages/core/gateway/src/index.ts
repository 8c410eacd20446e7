/** `@svc/gateway`: the only package that speaks HTTP to the outside. */
export type { FeaturePath } from "./routes/features.ts";
export { startGateway } from "./server.ts";
export { ANONYMOUS, mintClientId } from "./identity.ts";
export { type IngressPath, ingressPathsOf } from "./routes/channel-ingress.ts";
export { checkBind, isPublicBind } from "./http/connections.ts";
export { isLocalOnly } from "./pipeline.ts";
export type { PairingLinks } from "./auth/pairing.ts";
export type { IssuedCode, Pairing } from "./auth/pairing.ts";
export type { LogSearch, Operations } from "./routes/operations.ts";
export type * from "./types.ts";
export type { PairedDevices } from "./auth/authenticator.ts";
export type { PageSessionStore } from "./auth/page-sessions.ts";
export type { GatewayApprovals, PolicyRules } from "./routes/approvals.ts";
export type { Health, HealthUnit } from "./routes/monitoring.ts";
export type { PageFile } from "./routes/page-files.ts";
export type { SettingsAdmin } from "./routes/settings.ts";
export type { SopAuthor } from "./routes/sops.ts";
export type { GatewaySops } from "./routes/sops.ts";
