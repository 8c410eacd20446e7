/** How the routes of channel events, approvals and procedures come to answer what the document says. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { asked, type Provocation } from "./world.ts";

const at =
  (id: string): Provocation =>
  async (world) =>
    (await world.start()).ask({ path: world.path(id) });

export const GOVERNING_EVERYWHERE: Partial<Record<ErrorCode, Provocation>> = {
  APPROVAL_UNKNOWN: at("nobody"),
  APPROVAL_EXPIRED: at("run-1"),
  RULE_UNKNOWN: at("nobody"),
  APPROVAL_RESOLVED: at("run-2"),
  SOP_UNKNOWN: at("nobody"),
  SOP_NOT_MANUAL: at("by-webhook"),
  SOP_RUN_UNKNOWN: at("nobody"),
  SOP_RUN_ENDED: at("run-1"),
};

export const GOVERNING_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Provocation>>>> = {
  "POST /api/channel-events": {
    NOT_LOCAL: asked({ headers: { via: "1.1 proxy" } }),
    APPROVAL_EXISTS: notPosted("APPROVAL_EXISTS"),
    BUSY: notPosted("BUSY"),
    STORE_FULL: notPosted("STORE_FULL"),
    STORE_FAILED: notPosted("STORE_FAILED"),
    INTERNAL: async (world) => {
      world.channelEvents.unforeseen = new Error("unforeseen");
      return (await world.start()).ask();
    },
  },
  "POST /api/approvals/{run_id}/{step_id}": {
    RULE_NOT_SAVED: notAnswered("RULE_NOT_SAVED"),
    STORE_FULL: notAnswered("STORE_FULL"),
    STORE_FAILED: notAnswered("STORE_FAILED"),
  },
  "DELETE /api/policy-rules/{id}": {
    CONFIG_INVALID: notRevoked("CONFIG_INVALID"),
    CONFIG_CHANGED: notRevoked("CONFIG_CHANGED"),
    CONFIG_UNWRITABLE: notRevoked("CONFIG_UNWRITABLE"),
    STORE_FULL: notRevoked("STORE_FULL"),
    STORE_FAILED: notRevoked("STORE_FAILED"),
  },
  "POST /api/sops/{name}/runs": {
    SOP_BUSY: notStarted("SOP_BUSY"),
    STORE_FULL: notStarted("STORE_FULL"),
    STORE_FAILED: notStarted("STORE_FAILED"),
  },
  "POST /api/sop-runs/{id}/cancel": { STORE_FULL: notStarted("STORE_FULL"), STORE_FAILED: notStarted("STORE_FAILED") },
};

export const GOVERNING_SUCCESSES: Readonly<Record<string, readonly Provocation[]>> = {
  "GET /api/approvals": [
    asked({ path: "/api/approvals?status=waiting&limit=1" }),
    asked({ path: "/api/approvals?before=2" }),
  ],
  "POST /api/approvals/{run_id}/{step_id}": [asked({ body: '{"approved":false,"feedback":"not yet"}' })],
  "POST /api/sops/{name}/runs": [asked({ body: "" })],
  "GET /api/sop-runs": [asked({ path: "/api/sop-runs?sop=deploy&status=running&limit=1&before=9" })],
  "GET /api/sop-runs/{id}": [
    async (world) => {
      world.approvals.add({ runId: "run-2", stepId: "step-2", origin: "sop", status: "waiting" });
      return (await world.start()).ask();
    },
  ],
  "GET /api/audit": [asked({ path: "/api/audit?limit=1&before=3" })],
  "POST /api/channel-events": [
    async (world) => {
      world.channelEvents.skipped = ["provider_a"];
      return (await world.start()).ask();
    },
  ],
};

function notPosted(code: ErrorCode): Provocation {
  return async (world) => {
    world.channelEvents.fails = code;
    return (await world.start()).ask();
  };
}

function notAnswered(code: ErrorCode): Provocation {
  return async (world) => {
    world.approvals.fails = code;
    return (await world.start()).ask();
  };
}

function notRevoked(code: ErrorCode): Provocation {
  return async (world) => {
    world.policyRules.fails = code;
    return (await world.start()).ask();
  };
}

function notStarted(code: ErrorCode): Provocation {
  return async (world) => {
    world.sops.fails = new SvcError(code);
    return (await world.start()).ask();
  };
}
