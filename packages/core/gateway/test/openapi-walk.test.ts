// /openapi.json against the gateway: every route, every status and every code in it is provoked, and what comes back is
// checked against its schema. (So is every answer in the other tests of this package: see http.ts.)
import { ERRORS, type ErrorCode, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { CORE_ROUTES } from "../src/openapi.ts";
import { errorsOf, type RouteSpec } from "../src/routes/route.ts";
import { CORE_PROMISES } from "./document.ts";
import { GOVERNING_EVERYWHERE, GOVERNING_REFUSALS, GOVERNING_SUCCESSES } from "./governing-provocations.ts";
import { FILE_REFUSALS, FILE_SUCCESSES } from "./file-provocations.ts";
import { FEATURE, route } from "./harness.ts";
import { type Answer, call, raw } from "./http.ts";
import { signIn } from "./sign-in.ts";
import { STREAM_REFUSALS, STREAM_SUCCESSES } from "./stream-provocations.ts";
import { asked, type Provocation, SHOWN, times, World } from "./world.ts";

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
  open: "read",
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
  ...GOVERNING_EVERYWHERE,
  AGENT_UNKNOWN: failing("AGENT_UNKNOWN"),
  BUSY: failing("BUSY", 1000),
  TURN_UNKNOWN: failing("TURN_UNKNOWN"),
  FILE_UNKNOWN: failing("FILE_UNKNOWN"),
  TOOL_FAILED: failing("TOOL_FAILED"),
  TURN_RUNNING: failing("TURN_RUNNING"),
  TURN_STATE: failing("TURN_STATE"),
  STORE_FULL: failing("STORE_FULL"),
  STORE_FAILED: failing("STORE_FAILED"),
  SESSION_KIND: async (world) => (await world.start()).ask({ path: world.path("people") }),
  BAD_IDEMPOTENCY_KEY: asked({ headers: { "x-idempotency-key": "a b" } }),
  MESSAGE_UNKNOWN: async (world) => (await world.start()).ask({ path: world.path("in-99") }),
  MESSAGE_STATE: notChanged("MESSAGE_STATE"),
};

/** Where a route has its own way to it. */
const OWN: Readonly<Record<string, Partial<Record<ErrorCode, Provocation>>>> = {
  ...STREAM_REFUSALS,
  ...GOVERNING_REFUSALS,
  ...FILE_REFUSALS,
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
  "POST /api/sessions": { INTERNAL: asked({}, { run: () => Promise.reject(new Error("unforeseen")) }) },
  "POST /api/sessions/{id}/reply": {
    SESSION_KIND: async (world) => (await world.start()).ask({ path: world.path("mine") }),
    CHANNEL_UNKNOWN: notReplied("CHANNEL_UNKNOWN"),
    CHANNEL_CANNOT: notReplied("CHANNEL_CANNOT"),
    TURN_RUNNING: notReplied("TURN_RUNNING"),
    STORE_FULL: notReplied("STORE_FULL"),
    STORE_FAILED: notReplied("STORE_FAILED"),
  },
  "GET /metrics": { INTERNAL: asked({}, { exposition: { text: () => Promise.reject(new Error("unforeseen")) } }) },
  "GET /api/session/ways": {
    INTERNAL: async (world) => {
      const routes = [{ ...route("POST", "/api/door"), access: "open" as const }];
      await world.start({ routes, authFeatures: new Set([FEATURE]) });
      world.broken = new Error("unforeseen");
      return world.ask();
    },
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
  "DELETE /api/devices/{id}/sessions/{session}": {
    STORE_FULL: notEnded("STORE_FULL"),
    STORE_FAILED: notEnded("STORE_FAILED"),
  },
  "PATCH /api/sessions/{id}": {
    AGENT_UNKNOWN: notUpdated("AGENT_UNKNOWN"),
    STORE_FULL: notUpdated("STORE_FULL"),
    STORE_FAILED: notUpdated("STORE_FAILED"),
  },
  "POST /api/sessions/{id}/read": { STORE_FULL: notUpdated("STORE_FULL"), STORE_FAILED: notUpdated("STORE_FAILED") },
  "GET /api/sessions/{id}/export": {
    TOO_LARGE: async (world) => {
      world.messages.push({ ...SHOWN, turnId: "t", at: 1, role: "user", text: "x".repeat(64 * 1_048_576), calls: [] });
      return (await world.start()).ask();
    },
  },
  "DELETE /api/sessions/{id}": { STORE_FULL: notRemoved("STORE_FULL"), STORE_FAILED: notRemoved("STORE_FAILED") },
  "POST /api/inbox/{id}/replay": { STORE_FULL: notChanged("STORE_FULL"), STORE_FAILED: notChanged("STORE_FAILED") },
  "DELETE /api/inbox/{id}": { STORE_FULL: notChanged("STORE_FULL"), STORE_FAILED: notChanged("STORE_FAILED") },
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

function notEnded(code: ErrorCode): Provocation {
  return async (world) => {
    await world.start();
    world.pageSessions.fails = new SvcError(code);
    return world.ask();
  };
}

function notRenamed(code: ErrorCode): Provocation {
  return async (world) => {
    world.failRename = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notUpdated(code: ErrorCode): Provocation {
  return async (world) => {
    world.failUpdate = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notRemoved(code: ErrorCode): Provocation {
  return async (world) => {
    world.failRemove = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notReplied(code: ErrorCode): Provocation {
  return async (world) => {
    world.failReply = new SvcError(code);
    return (await world.start()).ask();
  };
}

function notChanged(code: ErrorCode): Provocation {
  return async (world) => {
    world.messageAdmin.fails = code;
    return (await world.start()).ask();
  };
}

/** By which a command can come, which is answered at once. */
const WRITING = [
  "POST /api/sessions",
  "POST /api/sessions/{id}/messages",
  "POST /api/sessions/{id}/turns/{turn}/retry",
  "POST /api/sessions/{id}/turns/{turn}/edit",
  "POST /api/sessions/{id}/turns/{turn}/continue",
];

/** Answers without an error, beside the 200 of a plain request. */
const SUCCESSES: Readonly<Record<string, readonly Provocation[]>> = {
  "POST /webhook": [
    async (world) => {
      await world.start();
      return times(2, () => world.ask({ headers: { "x-idempotency-key": "k" } }));
    },
    async (world) => {
      world.channelsUp.add("webhook");
      await world.start();
      return world.ask({ headers: { prefer: "respond-async" } });
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
      world.messageAdmin.oldestWaitingMs = undefined;
      return (await world.start()).ask();
    },
  ],
  "GET /api/inbox/{id}": [asked({ path: "/api/inbox/in-13" }), asked({ path: "/api/inbox/out-7" })],
  ...GOVERNING_SUCCESSES,
  "GET /api/sessions/{id}/messages": [asked({ path: "/api/sessions/mine/messages?limit=1&before=older" })],
  ...Object.fromEntries(
    WRITING.map((name) => [name, [asked({}, { run: async () => ({ response: "Agent: default" }) })]]),
  ),
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
    for (const provocation of [STREAM_SUCCESSES[name] ?? FILE_SUCCESSES[name] ?? asked(), ...(SUCCESSES[name] ?? [])]) {
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
