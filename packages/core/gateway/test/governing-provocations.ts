/** How the routes of channel events, approvals and procedures come to answer what the document says. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { makeBrowserKeys, subscriptionOf } from "@svc/testkit/web-push";
import { asked, type Provocation, times } from "./world.ts";

const at =
  (id: string): Provocation =>
  async (world) =>
    (await world.start()).ask({ path: world.path(id) });

const LIMITED_CHANGES = { RATE_LIMITED: tooOften(241) };

const NOT_WRITTEN: Partial<Record<ErrorCode, Provocation>> = {
  ...LIMITED_CHANGES,
  SOP_UNKNOWN: notWritten("SOP_UNKNOWN"),
  SOP_INVALID: notWritten("SOP_INVALID"),
  SOP_EXISTS: notWritten("SOP_EXISTS"),
  SOP_CHANGED: notWritten("SOP_CHANGED"),
  SOP_UNWRITABLE: notWritten("SOP_UNWRITABLE"),
  VERSION_UNKNOWN: notWritten("VERSION_UNKNOWN"),
  STORE_FULL: notWritten("STORE_FULL"),
  STORE_FAILED: notWritten("STORE_FAILED"),
};

const NOT_SAVED: Partial<Record<ErrorCode, Provocation>> = {
  ...LIMITED_CHANGES,
  SETTINGS_INVALID: notSaved("SETTINGS_INVALID"),
  SETTINGS_REFUSED: notSaved("SETTINGS_REFUSED"),
  CONFIG_CHANGED: notSaved("CONFIG_CHANGED"),
  CONFIG_UNWRITABLE: notSaved("CONFIG_UNWRITABLE"),
};

export const GOVERNING_EVERYWHERE: Partial<Record<ErrorCode, Provocation>> = {
  APPROVAL_UNKNOWN: at("nobody"),
  APPROVAL_EXPIRED: at("run-1"),
  RULE_UNKNOWN: at("nobody"),
  VERSION_UNKNOWN: at("99"),
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
  "POST /api/settings/preview": {
    ...LIMITED_CHANGES,
    VERSION_UNKNOWN: notSaved("VERSION_UNKNOWN"),
  },
  "PATCH /api/settings": NOT_SAVED,
  "POST /api/settings/versions/{id}/undo": { ...NOT_SAVED, VERSION_UNKNOWN: notSaved("VERSION_UNKNOWN") },
  "POST /api/settings/models": { RATE_LIMITED: tooOften(21), SETTINGS_INVALID: notSaved("SETTINGS_INVALID") },
  "POST /api/settings/model-test": {
    RATE_LIMITED: tooOften(21),
    SETTINGS_INVALID: notSaved("SETTINGS_INVALID"),
    AGENT_UNKNOWN: notSaved("AGENT_UNKNOWN"),
  },
  "POST /api/settings/channel-test": {
    RATE_LIMITED: tooOften(21),
    CHANNEL_UNKNOWN: notSaved("CHANNEL_UNKNOWN"),
    CHANNEL_DOWN: notSaved("CHANNEL_DOWN"),
    CHANNEL_CANNOT: notSaved("CHANNEL_CANNOT"),
    STORE_FULL: notSaved("STORE_FULL"),
    STORE_FAILED: notSaved("STORE_FAILED"),
  },
  "GET /api/logs": { LOG_UNREADABLE: notDone("LOG_UNREADABLE") },
  "POST /api/doctor": { RATE_LIMITED: tooOften(11) },
  "POST /api/backups": {
    RATE_LIMITED: tooOften(4),
    BACKUP_FAILED: notDone("BACKUP_FAILED"),
    BUSY: notDone("BUSY"),
  },
  "GET /api/sops/{name}": NOT_WRITTEN,
  "PUT /api/sops/{name}": NOT_WRITTEN,
  "PATCH /api/sops/{name}": NOT_WRITTEN,
  "DELETE /api/sops/{name}": NOT_WRITTEN,
  "POST /api/sops/{name}/copies": NOT_WRITTEN,
  "POST /api/sops/{name}/rename": NOT_WRITTEN,
  "GET /api/sop-versions/{id}": NOT_WRITTEN,
  "POST /api/sop-versions/{id}/undo": NOT_WRITTEN,
  "POST /api/sop-drafts": NOT_WRITTEN,
  "POST /api/sops/{name}/test-runs": {
    SOP_INVALID: notStarted("SOP_INVALID"),
    SOP_NOT_TRIGGERED: notStarted("SOP_NOT_TRIGGERED"),
    SOP_BUSY: notStarted("SOP_BUSY"),
    STORE_FULL: notStarted("STORE_FULL"),
    STORE_FAILED: notStarted("STORE_FAILED"),
  },
  "POST /api/sop-runs/{id}/retry": {
    SOP_RUN_ACTIVE: notStarted("SOP_RUN_ACTIVE"),
    SOP_RETRY_REFUSED: notStarted("SOP_RETRY_REFUSED"),
    SOP_UNKNOWN: notStarted("SOP_UNKNOWN"),
    SOP_INVALID: notStarted("SOP_INVALID"),
    SOP_DISABLED: notStarted("SOP_DISABLED"),
    SOP_BUSY: notStarted("SOP_BUSY"),
    STORE_FULL: notStarted("STORE_FULL"),
    STORE_FAILED: notStarted("STORE_FAILED"),
  },
  "POST /api/sops/{name}/runs": {
    SOP_DISABLED: notStarted("SOP_DISABLED"),
    SOP_BUSY: notStarted("SOP_BUSY"),
    STORE_FULL: notStarted("STORE_FULL"),
    STORE_FAILED: notStarted("STORE_FAILED"),
  },
  "GET /api/push": {
    STORE_FULL: notSealed("STORE_FULL"),
    STORE_FAILED: notSealed("STORE_FAILED"),
    SECRET_UNREADABLE: notSealed("SECRET_UNREADABLE"),
  },
  "PUT /api/push": {
    ADDRESS_REFUSED: notResolved("ADDRESS_REFUSED"),
    REMOTE_UNREACHABLE: notResolved("REMOTE_UNREACHABLE"),
    PUSH_LIMIT: async (world) => {
      for (let n = 0; n < 50; n += 1) {
        const id = `s-${n}`;
        world.pageSessions.rows.push({ ...world.pageSessions.rows[0]!, id, idHash: id });
        const kept = {
          ...subscriptionOf(makeBrowserKeys(), `https://push.example/${n}`),
          details: false,
          createdAtMs: 0,
        };
        await world.pushSecrets.set(`subscription/${id}`, JSON.stringify(kept));
      }
      return (await world.start()).ask();
    },
    STORE_FULL: notSealed("STORE_FULL"),
    STORE_FAILED: notSealed("STORE_FAILED"),
    SECRET_UNREADABLE: notSealed("SECRET_UNREADABLE"),
  },
  "DELETE /api/push": {
    STORE_FULL: notSealed("STORE_FULL"),
    STORE_FAILED: notSealed("STORE_FAILED"),
    SECRET_UNREADABLE: notSealed("SECRET_UNREADABLE"),
  },
  "POST /api/push/test": {
    PUSH_UNSUBSCRIBED: async (world) => {
      await world.start();
      await world.ask({ method: "DELETE", path: "/api/push" });
      return world.ask();
    },
    PUSH_FAILED: async (world) => {
      world.pushService.answers = [500];
      return (await world.start()).ask();
    },
    STORE_FULL: notSealed("STORE_FULL"),
    STORE_FAILED: notSealed("STORE_FAILED"),
    SECRET_UNREADABLE: notSealed("SECRET_UNREADABLE"),
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
  "GET /api/sop-runs": [
    asked({ path: "/api/sop-runs?sop=deploy&status=running&limit=1&before=9" }),
    asked({ path: "/api/sop-runs?source=webhook&test=false" }),
  ],
  "GET /api/sop-calendar": [asked({ path: "/api/sop-calendar?days=31&sop=deploy" })],
  "POST /api/sop-drafts": [asked({ body: '{"name":"new"}' })],
  "POST /api/sops/{name}/test-runs": [asked({ body: "{}" })],
  "GET /api/sop-runs/{id}": [
    async (world) => {
      world.approvals.add({ runId: "run-2", stepId: "step-2", origin: "sop", status: "waiting" });
      return (await world.start()).ask();
    },
  ],
  "GET /api/logs": [asked({ path: "/api/logs?level=warn&text=lost&channel=pager&limit=5&after=1:2:3" })],
  "GET /api/usage": [asked({ path: "/api/usage?days=7" })],
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

function notSaved(code: ErrorCode): Provocation {
  return async (world) => {
    world.settingsAdmin.fails = code;
    return (await world.start()).ask();
  };
}

function notDone(code: ErrorCode): Provocation {
  return async (world) => {
    world.operations.fails = code;
    return (await world.start()).ask();
  };
}

function notSealed(code: ErrorCode): Provocation {
  return async (world) => {
    world.pushSecrets.fails = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notResolved(code: ErrorCode): Provocation {
  return async (world) => {
    world.pushService.unresolved = new SvcError(code);
    return (await world.start()).ask();
  };
}

/** Each device has its own allowance. */
function tooOften(count: number): Provocation {
  return async (world) => {
    await world.start();
    return times(count, () => world.ask());
  };
}

function notWritten(code: ErrorCode): Provocation {
  return async (world) => {
    world.sopAuthor.fails = code;
    return (await world.start()).ask();
  };
}

function notStarted(code: ErrorCode): Provocation {
  return async (world) => {
    world.sops.fails = new SvcError(code);
    return (await world.start()).ask();
  };
}
