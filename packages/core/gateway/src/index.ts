/** `@svc/gateway`: the only package that speaks HTTP to the outside. */
export type { FeaturePath } from "./api/feature-paths.ts";
export type { ChannelReport, FeatureReport, StatusReport, ToolReport } from "./api/report-schemas.ts";
export { startGateway } from "./gateway.ts";
export { ANONYMOUS, mintClientId } from "./identity.ts";
export { type IngressPath, ingressPathsOf } from "./ingress/ingress-paths.ts";
export { checkBind, isPublicBind } from "./net/bind.ts";
export { isLocalOnly } from "./net/local-only.ts";
export type { PairingLinks } from "./pairing/link.ts";
export type { IssuedCode, Pairing } from "./pairing/pairing.ts";
export type { LogQuery, Operations } from "./api/operations.ts";
export type * from "./types.ts";
