/** Every error code of the product: HTTP status, exit code (sysexits.h) and the sentence that explains it. */

/** Exit codes of sysexits.h that `svc` uses. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 64,
  data: 65,
  noInput: 66,
  unavailable: 69,
  software: 70,
  os: 71,
  cantCreate: 73,
  io: 74,
  tempFail: 75,
  noPermission: 77,
  config: 78,
} as const;

export interface ErrorEntry {
  readonly status: number;
  readonly exit: number;
  readonly sentence: string;
}

const entry = (status: number, exit: number, sentence: string): ErrorEntry => ({ status, exit, sentence });

export const ERRORS = {
  // Requests
  BAD_REQUEST: entry(400, EXIT.data, "The request is malformed."),
  BAD_JSON: entry(400, EXIT.data, "The body is not valid UTF-8 JSON, or nests deeper than 128 levels."),
  BAD_BODY: entry(400, EXIT.data, 'The body must be a JSON object with a non-blank string "message".'),
  BAD_SESSION_ID: entry(400, EXIT.usage, "X-Session-Id must be 1 to 128 characters of A-Z a-z 0-9 . _ and -."),
  BAD_IDEMPOTENCY_KEY: entry(400, EXIT.usage, "X-Idempotency-Key must be 1 to 256 visible ASCII characters."),
  UNAUTHORIZED: entry(401, EXIT.noPermission, "A valid bearer token is required."),
  BAD_WEBHOOK_SECRET: entry(401, EXIT.noPermission, "A valid X-Webhook-Secret header is required."),
  BAD_SIGNATURE: entry(401, EXIT.noPermission, "A valid signature is required."),
  BAD_VERIFY_TOKEN: entry(403, EXIT.noPermission, "The verify token is wrong."),
  BAD_HOST: entry(403, EXIT.noPermission, "This Host is not served here; add it to gateway.allowed_hosts."),
  BAD_ORIGIN: entry(403, EXIT.noPermission, "Requests from this Origin are refused."),
  NOT_LOCAL: entry(403, EXIT.noPermission, "Only programs on this machine may call this path."),
  BAD_PAIRING_CODE: entry(403, EXIT.noPermission, "The pairing code is wrong, used or expired."),
  FORBIDDEN_SCOPE: entry(403, EXIT.noPermission, "This token's scope does not open this path."),
  NOT_FOUND: entry(404, EXIT.usage, "Nothing is served at this path."),
  NOT_CONFIGURED: entry(404, EXIT.usage, "Nothing is configured for this path."),
  METHOD_NOT_ALLOWED: entry(405, EXIT.usage, "This path does not take this method."),
  REQUEST_TIMEOUT: entry(408, EXIT.tempFail, "The request took too long to arrive."),
  TOO_LARGE: entry(413, EXIT.data, "The body is larger than allowed."),
  BAD_CONTENT_TYPE: entry(415, EXIT.data, "The body must be sent as application/json."),
  UPGRADE_REQUIRED: entry(426, EXIT.usage, "This path is for WebSocket connections."),
  RATE_LIMITED: entry(429, EXIT.tempFail, "Too many requests; wait and try again."),
  LOCKED_OUT: entry(429, EXIT.tempFail, "Too many failed attempts; wait and try again."),
  HEADERS_TOO_LARGE: entry(431, EXIT.data, "The request headers are larger than allowed."),
  INTERNAL: entry(500, EXIT.software, "Something unexpected went wrong; the log has the details."),
  DRAINING: entry(503, EXIT.tempFail, "The service is shutting down."),
  BUSY: entry(503, EXIT.tempFail, "Too many turns are waiting; try again shortly."),
  FEATURE_DOWN: entry(503, EXIT.tempFail, "The feature behind this path failed; svc status says why."),

  // Turns
  TURN_FAILED: entry(500, EXIT.software, "The agent's turn failed."),
  TURN_CANCELLED: entry(500, EXIT.tempFail, "The agent's turn was cancelled."),
  TURN_STEP_LIMIT: entry(500, EXIT.software, "The turn used all its steps without an answer."),
  TURN_CRASHED: entry(
    500,
    EXIT.software,
    "The process ended in the middle of this turn, five times; it is not tried again.",
  ),
  TURN_TIMEOUT: entry(504, EXIT.tempFail, "The agent's turn ran past its time limit."),
  COST_LIMIT: entry(429, EXIT.tempFail, "The agent has spent what it may spend in a day."),
  AGENT_UNKNOWN: entry(404, EXIT.usage, "There is no agent of this name in the config."),
  MODEL_REFUSED: entry(502, EXIT.unavailable, "The model provider refused the request."),
  MODEL_UNREACHABLE: entry(502, EXIT.unavailable, "The model provider could not be reached."),

  // Tools
  TOOL_UNKNOWN: entry(404, EXIT.usage, "There is no tool of this name."),
  TOOL_UNAVAILABLE: entry(404, EXIT.unavailable, "This tool's feature is not in this build."),
  TOOL_BAD_INPUT: entry(400, EXIT.data, "The tool's input does not fit its schema."),
  TOOL_REFUSED: entry(403, EXIT.noPermission, "The security policy refuses this call."),
  TOOL_FAILED: entry(500, EXIT.software, "The tool failed."),
  PATH_OUTSIDE_WORKSPACE: entry(403, EXIT.noPermission, "The path is outside the workspace."),
  PATH_FORBIDDEN: entry(403, EXIT.noPermission, "The path is forbidden by the security policy."),
  ADDRESS_REFUSED: entry(403, EXIT.noPermission, "Private, loopback and link-local addresses are refused."),
  REMOTE_UNREACHABLE: entry(502, EXIT.unavailable, "The remote server could not be reached or broke the protocol."),
  REMOTE_TIMEOUT: entry(504, EXIT.unavailable, "The remote server did not answer in time."),
  SANDBOX_UNAVAILABLE: entry(503, EXIT.unavailable, "The requested sandbox is not available."),
  DOMAIN_REFUSED: entry(403, EXIT.noPermission, "This host is not in browser.allowed_domains."),
  BROWSER_UNAVAILABLE: entry(503, EXIT.unavailable, "The browser can't be started, or the program that drives it."),
  BROWSER_FAILED: entry(502, EXIT.unavailable, "The browser could not do this."),
  PDF_INVALID: entry(400, EXIT.data, "The file is no PDF that can be read."),
  PDF_ENCRYPTED: entry(400, EXIT.data, "The PDF is encrypted, and needs a password to be read."),
  PDF_TOO_MUCH: entry(413, EXIT.data, "Reading the PDF takes more time or memory than it may."),
  PLUGIN_INVALID: entry(400, EXIT.data, "The plugin is invalid."),
  PLUGIN_UNKNOWN: entry(404, EXIT.usage, "There is no such plugin."),
  PLUGIN_CHANGED: entry(409, EXIT.data, "The plugin is not what was approved when it was installed."),
  PLUGIN_REFUSED: entry(403, EXIT.noPermission, "The plugin was not approved."),

  // Channels
  CHANNEL_UNKNOWN: entry(404, EXIT.usage, "There is no such channel in the config."),
  CHANNEL_UNAUTHORIZED: entry(502, EXIT.noPermission, "The platform refuses the channel's credentials."),
  CHANNEL_DOWN: entry(503, EXIT.tempFail, "This channel is not in service; try again later."),
  CHANNEL_CANNOT: entry(409, EXIT.usage, "This channel can't do that."),
  DELIVERY_REFUSED: entry(502, EXIT.unavailable, "The platform refuses this message."),
  DELIVERY_FILE_CHANGED: entry(409, EXIT.data, "A file of the message is not the one that was queued."),
  DELIVERY_FAILED: entry(502, EXIT.unavailable, "The platform did not take the message."),
  DELIVERY_CRASHED: entry(
    500,
    EXIT.software,
    "The process ended while this message was being sent, again and again; it is not tried again.",
  ),
  MEDIA_REFUSED: entry(502, EXIT.unavailable, "The file can't be fetched."),
  TRANSCRIPTION_FAILED: entry(502, EXIT.unavailable, "The recording could not be transcribed."),
  SPEECH_FAILED: entry(502, EXIT.unavailable, "The text could not be spoken."),
  MESSAGE_UNKNOWN: entry(404, EXIT.usage, "There is no such message in the inbox or outbox."),
  MESSAGE_STATE: entry(409, EXIT.usage, "The message's state does not allow this."),

  // Approvals and procedures
  APPROVAL_UNKNOWN: entry(404, EXIT.usage, "There is no such approval request."),
  APPROVAL_EXISTS: entry(409, EXIT.usage, "There is another approval request with this run_id and step_id."),
  APPROVAL_RESOLVED: entry(409, EXIT.usage, "Somebody has answered this approval request already."),
  APPROVAL_EXPIRED: entry(410, EXIT.usage, "Nobody answered this approval request in time."),
  SOP_UNKNOWN: entry(404, EXIT.usage, "There is no procedure of this name."),
  SOP_INVALID: entry(400, EXIT.data, "The procedure's files are invalid."),
  SOP_NOT_MANUAL: entry(409, EXIT.usage, "This procedure has no manual trigger."),
  SOP_BUSY: entry(409, EXIT.tempFail, "This procedure may not start now."),
  SOP_RUN_UNKNOWN: entry(404, EXIT.usage, "There is no such run of a procedure."),
  SOP_RUN_ENDED: entry(409, EXIT.usage, "This run has ended."),
  SOP_STEP_FAILED: entry(500, EXIT.software, "A step of the procedure failed."),
  AUDIT_BROKEN: entry(500, EXIT.data, "The audit log was changed by somebody else."),

  // Passkeys
  PASSKEY_REFUSED: entry(403, EXIT.noPermission, "The passkey is refused."),
  PASSKEY_EXPIRED: entry(410, EXIT.tempFail, "This was begun too long ago, or is over already; begin again."),
  PASSKEY_UNKNOWN: entry(404, EXIT.usage, "There is no such passkey."),
  PASSKEY_LAST: entry(
    403,
    EXIT.noPermission,
    "A page can't remove the last passkey that works; do it with the pairing token, or with svc passkeys remove.",
  ),
  PASSKEY_LIMIT: entry(409, EXIT.usage, "There are as many passkeys as there may be; remove one first."),

  // Set-up
  USAGE: entry(400, EXIT.usage, "The command's arguments are wrong."),
  CANCELLED: entry(409, EXIT.failure, "It was called off at the terminal; nothing was changed."),
  CONFIG_INVALID: entry(500, EXIT.config, "The configuration is invalid."),
  CONFIG_NOT_FOUND: entry(500, EXIT.noInput, "The configuration file does not exist."),
  CONFIG_UNSET: entry(404, EXIT.noInput, "This key is not set and has no default."),
  CONFIG_EXISTS: entry(409, EXIT.cantCreate, "A configuration file exists already."),
  CONFIG_CHANGED: entry(409, EXIT.tempFail, "The configuration file was changed by somebody else meanwhile."),
  CONFIG_UNWRITABLE: entry(500, EXIT.cantCreate, "The configuration file can't be written."),
  HOME_UNWRITABLE: entry(500, EXIT.cantCreate, "The home directory can't be written."),
  FEATURE_ABSENT: entry(500, EXIT.config, "The configuration needs a feature that is not in this build."),
  FEATURE_CONFLICT: entry(500, EXIT.config, "Two parts of this build claim the same name."),
  FEATURE_FAILED: entry(500, EXIT.unavailable, "A feature failed to start and is disabled."),
  SECRET_UNREADABLE: entry(500, EXIT.config, "An encrypted value can't be read with this home's key file."),
  PUBLIC_BIND: entry(500, EXIT.config, "Binding a public address needs gateway.allow_public_bind = true."),
  ADDRESS_IN_USE: entry(500, EXIT.unavailable, "The address is in use by another program."),
  ALREADY_RUNNING: entry(
    500,
    EXIT.tempFail,
    "Another svc is running on this home: a daemon, or a command such as svc chat.",
  ),
  NOT_RUNNING: entry(503, EXIT.unavailable, "No daemon is running on this home."),
  DAEMON_LOST: entry(503, EXIT.unavailable, "The daemon went away before it answered."),
  DAEMON_FORBIDDEN: entry(403, EXIT.noPermission, "This user may not open the daemon's control socket."),
  LOG_UNREADABLE: entry(500, EXIT.noInput, "The log can't be read."),
  STORE_NEWER: entry(500, EXIT.config, "The database was written by a newer version of svc."),
  STORE_FULL: entry(503, EXIT.io, "The disk is full; nothing was accepted."),
  STORE_FAILED: entry(503, EXIT.io, "The database could not be written."),

  SESSION_UNKNOWN: entry(404, EXIT.usage, "There is no such conversation."),
  DEVICE_UNKNOWN: entry(404, EXIT.usage, "There is no such paired device."),
  BACKUP_FAILED: entry(500, EXIT.cantCreate, "The backup could not be made; there is no half one."),
  BACKUP_INVALID: entry(500, EXIT.data, "The backup is damaged, incomplete or not one of svc."),
  SERVICE_UNSUPPORTED: entry(500, EXIT.unavailable, "This system has no service manager that svc knows."),
  SERVICE_FORBIDDEN: entry(403, EXIT.noPermission, "Only root may install a service for the whole machine."),
  SERVICE_EDITED: entry(409, EXIT.cantCreate, "The service file was made or changed by somebody else."),
  SERVICE_FAILED: entry(500, EXIT.unavailable, "The service manager refused."),

  // Building a binary
  PROFILE_INVALID: entry(500, EXIT.config, "The profile can't be built."),
  FEATURE_PLANNED: entry(500, EXIT.config, "The feature is planned; its package is not written yet."),
  FEATURE_PLATFORM: entry(500, EXIT.config, "The feature does not exist for this platform."),
  MANIFEST_INVALID: entry(500, EXIT.data, "A package's manifest breaks the schema."),
  NATIVE_MISSING: entry(500, EXIT.unavailable, "A native addon that a feature needs is not there."),
  BUNDLE_FAILED: entry(500, EXIT.data, "The sources can't be bundled."),
  BUNDLE_UNPROVEN: entry(500, EXIT.software, "The bundle does not hold exactly what the profile says."),
  BUDGET_EXCEEDED: entry(500, EXIT.config, "The build is larger than the profile's budget."),
  BUILD_FAILED: entry(500, EXIT.software, "The binary could not be made."),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
