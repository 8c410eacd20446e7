// /openapi.json against the gateway: every route, every status and every code in it is provoked, and what comes back is
// checked against its schema. (So is every answer in the other tests of this package: see http.ts.)
import { ERRORS, type ErrorCode, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { CORE_ROUTES } from "../src/openapi/index.ts";
import { errorsOf, type RouteSpec } from "../src/routes/spec.ts";
import { CORE_PROMISES } from "./document.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { type Answer, type Call, call, raw } from "./http.ts";
import { signIn } from "./sign-in.ts";
import { STREAM_REFUSALS, STREAM_SUCCESSES } from "./stream-provocations.ts";

/** A route to ask, and somebody who may. */
class World extends Harness {
  readonly spec: RouteSpec;
  readonly tokens = { operator: this.device("operator"), webhook: this.device("webhook"), read: this.device("read") };

  constructor(spec: RouteSpec) {
    super();
    this.spec = spec;
    this.sessions.push(
      {
        id: "mine",
        clientId: "client-operator" as never,
        name: "a",
        createdAt: 0,
        updatedAt: 1,
        turns: 1,
        running: true,
      },
      {
        id: "his",
        clientId: "client-webhook" as never,
        name: "b",
        createdAt: 0,
        updatedAt: 1,
        turns: 1,
        running: false,
      },
    );
    const calls = [{ callId: "c", tool: "shell", input: { line: "ls" }, ok: true, output: "x" }];
    this.messages.push(
      { turnId: "t", at: 1, role: "user", text: "hi", calls: [] },
      { turnId: "t", at: 2, role: "assistant", text: "ho", calls },
    );
  }

  override async start(options: HarnessOptions = {}): Promise<this> {
    return super.start({ ...options, config: { trust_forwarded_headers: true, ...options.config } });
  }

  /** A request that is answered 200, but for what is `changed`. */
  async ask(changed: Call = {}): Promise<Answer> {
    const { method, access, body } = this.spec;
    const headers = {
      ...(access !== "public" && { authorization: `Bearer ${this.tokens.operator}` }),
      ...(body && { "content-type": "application/json" }),
      ...(this.spec.path === "/api/session" && { origin: `http://localhost:${this.port}` }),
      ...(takesCode(this.spec) && { "x-pairing-code": this.gateway.pairing.issueCode({ scope: "read" }).code }),
      ...changed.headers,
    };
    const sent = body && { body: JSON.stringify({ message: "hi", type: "build", approved: true, name: "desk" }) };
    return call(this, { method, path: this.path(), ...sent, ...changed, headers });
  }

  path(id?: string): string {
    const { path } = this.spec;
    const known = Object.entries(KNOWN).find(([start]) => path.startsWith(start))?.[1] ?? "mine";
    return path.replace("{step_id}", "step-1").replace(/\{\w+\}/, id ?? known);
  }
}

/** What there is one of. */
const KNOWN = {
  "/api/devices": "dev-read",
  "/api/inbox": "in-12",
  "/api/approvals": "run-3",
  "/api/sops": "deploy",
  "/api/sop-runs": "run-2",
};

/** By a code, since what can go wrong with a token is the same everywhere. */
const takesCode = ({ method, path }: RouteSpec): boolean =>
  path === "/pair" || (method === "POST" && path === "/api/session");

type Provocation = (world: World) => Promise<Answer>;
const asked =
  (changed: Call = {}, options: HarnessOptions = {}): Provocation =>
  async (world) =>
    (await world.start(options)).ask(changed);
const times = async (count: number, ask: () => Promise<Answer>): Promise<Answer> => {
  for (let done = 1; done < count; done += 1) await ask();
  return ask();
};
const failing = (code: ErrorCode, retryAfterMs?: number): Provocation =>
  asked(
    {},
    { run: () => Promise.reject(new SvcError(code, undefined, retryAfterMs === undefined ? {} : { retryAfterMs })) },
  );
const attacker = { "x-forwarded-for": "203.0.113.9" };
const wrongScope = {
  webhook: "read",
  read: "webhook",
  operate: "read",
  public: "read",
  local: "read",
  connect: "read",
} as const;

/** How each code comes about, whatever the route. */
const EVERYWHERE: Partial<Record<ErrorCode, Provocation>> = {
  BAD_REQUEST: async (world) => {
    const { port } = await world.start();
    return answerIn(await raw({ port }, `${world.spec.method} ${world.path()} HTTP/1.1\r\nConnection: close\r\n\r\n`));
  },
  BAD_HOST: asked({ headers: { host: "evil.example" } }),
  BAD_ORIGIN: asked({ headers: { origin: "https://evil.example" } }),
  UNAUTHORIZED: asked({ headers: { authorization: "" } }),
  FORBIDDEN_SCOPE: async (world) => {
    await world.start();
    return world.ask({ headers: { authorization: `Bearer ${world.tokens[wrongScope[world.spec.access]]}` } });
  },
  LOCKED_OUT: async (world) => {
    await world.start();
    return times(11, () => world.ask({ headers: { authorization: "Bearer x", ...attacker } }));
  },
  DRAINING: async (world) => {
    (await world.start()).gateway.drain();
    return world.ask();
  },
  BAD_CONTENT_TYPE: asked({ headers: { "content-type": "text/plain" } }),
  TOO_LARGE: asked({ body: `{"message":"${"x".repeat(5000)}"}` }),
  BAD_JSON: asked({ body: "{" }),
  INTERNAL: async (world) => {
    await world.start();
    world.broken = new Error("unforeseen");
    return world.ask();
  },
  RATE_LIMITED: async (world) => {
    await world.start({ config: { webhook_rate_limit_per_minute: 10 } });
    return times(11, () => world.ask());
  },
  SESSION_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("nobody") }),
  DEVICE_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("nobody") }),
  APPROVAL_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("nobody") }),
  APPROVAL_EXPIRED: async (world) => (await world.start()).ask({ path: world.path("run-1") }),
  APPROVAL_RESOLVED: async (world) => (await world.start()).ask({ path: world.path("run-2") }),
  SOP_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("nobody") }),
  SOP_NOT_MANUAL: async (world) => (await world.start()).ask({ path: world.path("by-webhook") }),
  SOP_RUN_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("nobody") }),
  SOP_RUN_ENDED: async (world) => (await world.start()).ask({ path: world.path("run-1") }),
  MESSAGE_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("in-99") }),
  MESSAGE_STATE: notChanged("MESSAGE_STATE"),
};

/** Where a route has its own way to it. */
const OWN: Readonly<Record<string, Partial<Record<ErrorCode, Provocation>>>> = {
  ...STREAM_REFUSALS,
  "POST /webhook": {
    BAD_WEBHOOK_SECRET: asked({}, { webhook: { secret: "s" } }),
    BAD_SIGNATURE: asked({}, { webhook: { signing_secret: "s" } }),
    BAD_BODY: asked({ body: "[]" }),
    BAD_SESSION_ID: asked({ headers: { "x-session-id": "a b" } }),
    BAD_IDEMPOTENCY_KEY: asked({ headers: { "x-idempotency-key": "a b" } }),
    COST_LIMIT: failing("COST_LIMIT", 60_000),
    BUSY: failing("BUSY", 1000),
    INTERNAL: asked({}, { run: () => Promise.reject(new Error("unforeseen")) }),
  },
  "POST /pair": {
    BAD_PAIRING_CODE: asked({ headers: { "x-pairing-code": "wrong" }, body: "{}" }),
    LOCKED_OUT: async (world) => {
      await world.start();
      return times(6, () => world.ask({ headers: { "x-pairing-code": "wrong" } }));
    },
    INTERNAL: async (world) => {
      world.failNextAdd = new SvcError("STORE_FULL");
      return (await world.start()).ask();
    },
  },
  "POST /api/session": {
    BAD_PAIRING_CODE: asked({ headers: { "x-pairing-code": "000000x" } }),
    FORBIDDEN_SCOPE: async (world) => {
      await world.start();
      return world.ask({ headers: { authorization: `Bearer ${world.tokens.webhook}` } });
    },
    INTERNAL: async (world) => {
      world.failNextAdd = new SvcError("STORE_FULL");
      return (await world.start()).ask();
    },
    STORE_FULL: notSignedIn("STORE_FULL"),
    STORE_FAILED: notSignedIn("STORE_FAILED"),
  },
  "DELETE /api/session": { STORE_FULL: notSignedOut("STORE_FULL"), STORE_FAILED: notSignedOut("STORE_FAILED") },
  "DELETE /api/sessions/{id}": { STORE_FULL: notRemoved("STORE_FULL"), STORE_FAILED: notRemoved("STORE_FAILED") },
  "POST /api/inbox/{id}/replay": { STORE_FULL: notChanged("STORE_FULL"), STORE_FAILED: notChanged("STORE_FAILED") },
  "DELETE /api/inbox/{id}": { STORE_FULL: notChanged("STORE_FULL"), STORE_FAILED: notChanged("STORE_FAILED") },
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
    STORE_FULL: notAnswered("STORE_FULL"),
    STORE_FAILED: notAnswered("STORE_FAILED"),
  },
  "POST /api/sops/{name}/runs": {
    SOP_BUSY: notStarted("SOP_BUSY"),
    STORE_FULL: notStarted("STORE_FULL"),
    STORE_FAILED: notStarted("STORE_FAILED"),
  },
  "POST /api/sop-runs/{id}/cancel": { STORE_FULL: notStarted("STORE_FULL"), STORE_FAILED: notStarted("STORE_FAILED") },
  "PUT /api/devices/{id}/name": { STORE_FULL: notRenamed("STORE_FULL"), STORE_FAILED: notRenamed("STORE_FAILED") },
  "DELETE /api/devices/{id}": { STORE_FULL: notRemoved("STORE_FULL"), STORE_FAILED: notRemoved("STORE_FAILED") },
};

function notSignedIn(code: ErrorCode): Provocation {
  return async (world) => {
    world.pageSessions.fails = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notSignedOut(code: ErrorCode): Provocation {
  return async (world) => {
    const signedIn = await signIn(await world.start(), world.tokens.operator);
    world.pageSessions.fails = new SvcError(code);
    return call(world, { method: "DELETE", path: "/api/session", headers: signedIn.headers });
  };
}

function notRenamed(code: ErrorCode): Provocation {
  return async (world) => {
    world.failRename = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notRemoved(code: ErrorCode): Provocation {
  return async (world) => {
    world.failRemove = new SvcError(code);
    return (await world.start()).ask();
  };
}

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

function notStarted(code: ErrorCode): Provocation {
  return async (world) => {
    world.sops.fails = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notChanged(code: ErrorCode): Provocation {
  return async (world) => {
    world.mailbox.fails = code;
    return (await world.start()).ask();
  };
}

/** Answers without an error, beside the 200 of a plain request. */
const SUCCESSES: Readonly<Record<string, readonly Provocation[]>> = {
  "POST /webhook": [
    async (world) => {
      await world.start();
      return times(2, () => world.ask({ headers: { "x-idempotency-key": "k" } }));
    },
  ],
  "POST /pair": [asked({ body: '{"device_name":"phone"}' }), asked({ body: "" })],
  "POST /api/session": [
    asked({ body: '{"device_name":"phone"}' }),
    async (world) => (await world.start()).ask({ headers: { authorization: `Bearer ${world.tokens.read}` } }),
  ],
  "GET /health": [
    async (world) => {
      await world.start();
      world.health = { degraded: true, units: [{ id: "a", state: "failed", reason: "why" }], unsigned: ["b"] };
      return world.ask({ headers: { authorization: `Bearer ${world.tokens.read}` } });
    },
  ],
  "GET /api/inbox": [
    asked({ path: "/api/inbox?box=in&channel=provider_a&state=waiting&limit=1" }),
    async (world) => {
      world.mailbox.oldestWaitingMs = undefined;
      return (await world.start()).ask();
    },
  ],
  "GET /api/inbox/{id}": [asked({ path: "/api/inbox/in-13" }), asked({ path: "/api/inbox/out-7" })],
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
  "GET /api/sessions/{id}/messages": [asked({ path: "/api/sessions/mine/messages?limit=1&before=older" })],
  "GET /openapi.json": [asked({ headers: { "if-none-match": "*" } })],
};

const nameOf = ({ method, path }: RouteSpec): string => `${method} ${path}`;
const provoked = new Set<string>();

describe.each(CORE_ROUTES.map((spec) => [nameOf(spec), spec] as const))("%s", (name, spec) => {
  test.each(errorsOf(spec))("answers %s as the document says", async (code) => {
    const provocation = OWN[name]?.[code] ?? EVERYWHERE[code] ?? (name === "POST /webhook" ? failing(code) : undefined);
    expect(provocation, `nobody knows how ${name} comes to answer ${code}`).toBeDefined();
    const answer = await provocation!(new World(spec));
    expect([answer.status, answer.json?.code]).toEqual([ERRORS[code].status, code]);
    expect(CORE_PROMISES.broken(spec.method, spec.path, answer)).toBeUndefined();
    provoked.add(`${name} ${answer.status}`);
  });

  test("answers as the document says when all is well", async () => {
    for (const provocation of [STREAM_SUCCESSES[name] ?? asked(), ...(SUCCESSES[name] ?? [])]) {
      const answer = await provocation(new World(spec));
      expect(answer.status).toBeLessThan(400);
      expect(CORE_PROMISES.broken(spec.method, spec.path, answer)).toBeUndefined();
      provoked.add(`${name} ${answer.status}`);
    }
  });

  test("answers what is refused before there is a request in the one shape of errors", async () => {
    const { port } = await new World(spec).start();
    const huge = `${spec.method} ${spec.path} HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
    const answer = answerIn(await raw({ port }, huge));
    expect([answer.status, Object.keys(answer.json)]).toEqual([431, ["error", "code"]]);
  });
});

test("and no status stands in the document that nothing here provokes", () => {
  const promised = Object.entries<any>(CORE_PROMISES.document["paths"]).flatMap(([path, operations]) =>
    Object.entries<any>(operations).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
  expect(promised.filter((one) => !one.endsWith(" default") && !provoked.has(one))).toEqual([]);
});

function answerIn(response: string): Answer {
  const [head = "", text = ""] = response.split("\r\n\r\n");
  const lines = head
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(": ", 2) as [string, string]);
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]));
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), headers, text, json: JSON.parse(text) };
}
