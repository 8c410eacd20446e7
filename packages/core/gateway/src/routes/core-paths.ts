/**
 * The paths of `CORE_ROUTES`, which no feature may claim. Written out: the routes bring their schemas with them, and every
 * command that opens the service would wait for those.
 */
export const CORE_PATHS: readonly string[] = [
  "/webhook",
  "/pair",
  "/health",
  "/metrics",
  "/api/status",
  "/api/channels",
  "/api/tools",
  "/api/features",
  "/api/config",
  "/api/inbox",
  "/api/inbox/{id}",
  "/api/inbox/{id}/replay",
  "/api/sessions",
  "/api/sessions/{id}",
  "/api/sessions/{id}/messages",
  "/api/sessions/{id}/cancel",
  "/api/devices",
  "/api/devices/{id}",
  "/openapi.json",
];
