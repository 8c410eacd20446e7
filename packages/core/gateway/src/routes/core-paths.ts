/** Where the files of the page are, in a build that has it; in every other build nobody else's, too. */
export const PAGE_PATHS: readonly string[] = ["/", "/assets/{file}", "/favicon.svg"];

/**
 * The paths of `CORE_ROUTES` and of the page, which no feature may claim. Written out: the routes bring their schemas with them, and every
 * command that opens the service would wait for those.
 */
export const CORE_PATHS: readonly string[] = [
  "/webhook",
  "/pair",
  "/api/session",
  "/api/session/ways",
  "/health",
  "/metrics",
  "/api/events",
  "/ws",
  "/api/channel-events",
  "/api/status",
  "/api/channels",
  "/api/tools",
  "/api/features",
  "/api/config",
  "/api/config/schema",
  "/api/inbox",
  "/api/inbox/{id}",
  "/api/inbox/{id}/replay",
  "/api/sessions",
  "/api/sessions/{id}",
  "/api/sessions/{id}/messages",
  "/api/sessions/{id}/cancel",
  "/api/approvals",
  "/api/approvals/{run_id}/{step_id}",
  "/api/sops",
  "/api/sops/{name}/runs",
  "/api/sop-runs",
  "/api/sop-runs/{id}",
  "/api/sop-runs/{id}/cancel",
  "/api/audit",
  "/api/devices",
  "/api/devices/{id}",
  "/api/devices/{id}/name",
  "/api/devices/{id}/sessions/{session}",
  "/api/pairing-codes",
  "/openapi.json",
  ...PAGE_PATHS,
];
