/** `@svc/gateway`: the only package that speaks HTTP to the outside. */
export type { FeaturePath } from "./routes/features.ts";
export type { ChannelReport, FeatureReport, StatusReport, ToolReport } from "./routes/reports.ts";
export { startGateway } from "./gateway.ts";
export { ANONYMOUS, mintClientId } from "./identity.ts";
export { type IngressPath, ingressPathsOf } from "./routes/channel-ingress.ts";
export { checkBind, isPublicBind } from "./http/bind.ts";
export { isLocalOnly } from "./middleware/client.ts";
export type { PairingLinks } from "./auth/pairing.ts";
export type { IssuedCode, Pairing } from "./auth/pairing.ts";
export type { LogQuery, Operations } from "./routes/operations.ts";
export type * from "./types.ts";
