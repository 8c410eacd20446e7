/** Which lists an event makes stale. Lists are read again, never patched, so that they always match the daemon. */

export type Topic =
  | "rules"
  | "status"
  | "sessions"
  | "inbox"
  | "approvals"
  | "procedures"
  | "audit"
  | "devices"
  | "passkeys"
  | "hardware"
  | "safety"
  | "agents"
  | "voice";

export function topicsOf(type: string): readonly Topic[] {
  switch (type) {
    case "turn-start":
    case "turn-store":
    case "turn-end":
      return ["status", "sessions"];
    case "session-updated":
      return ["sessions"];
    case "message-received":
    case "message-delivered":
    case "message-failed":
      return ["status", "inbox"];
    case "human_approval_request":
    case "human_approval_resolved":
      return ["approvals", "procedures", "audit"];
    case "sop-change":
      return ["procedures"];
    case "sop-run-start":
    case "sop-run-step":
    case "sop-run-end":
      return ["procedures", "audit"];
    case "tool-call":
    case "tool-result":
    case "hardware-changed":
      return ["hardware"];
    case "safety-request":
    case "safety-refuse":
    case "safety-stop":
    case "safety-reset":
      return ["safety", "audit"];
    case "voice-state":
      return ["voice"];
    case "agent-changed":
      return ["agents"];
    case "channel-health":
      return ["status"];
    default:
      return [];
  }
}
