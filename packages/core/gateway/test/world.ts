/** A route to ask, and somebody who may. */
import type { RouteSpec } from "../src/routes/route.ts";
import { REVISION } from "./fake-settings.ts";
import { Harness, type HarnessOptions, sessionInfo } from "./harness.ts";
import { makeBrowserKeys, subscriptionOf } from "@svc/testkit/web-push";
import { type Answer, type Call, call } from "./http.ts";
import { signIn } from "./sign-in.ts";

export class World extends Harness {
  readonly spec: RouteSpec;
  /** Of a page that is signed in, for routes that take nothing else. */
  #page: Readonly<Record<string, string>> | undefined;
  readonly tokens = { operator: this.device("operator"), webhook: this.device("webhook"), read: this.device("read") };

  constructor(spec: RouteSpec) {
    super();
    this.spec = spec;
    this.sessions.push(
      sessionInfo({ id: "mine", clientId: "client-operator" as never, name: "a", running: true }),
      sessionInfo({ id: "his", clientId: "client-webhook" as never, name: "b" }),
      sessionInfo({
        id: "people",
        clientId: "channel" as never,
        name: '["provider_a","+49"]',
        channel: { channel: "provider_a", id: "+49" },
      }),
    );
    this.pageSessions.rows.push({
      id: "session-1",
      idHash: "hash",
      deviceId: "dev-read",
      browser: "Firefox on Linux",
      isSecure: false,
      createdAtMs: this.clock.now(),
      seenAtMs: this.clock.now(),
    });
    const calls = [
      { callId: "c", tool: "shell", input: { line: "ls" }, ok: true, outcome: "done" as const, output: "x" },
    ];
    this.messages.push(
      { ...SHOWN, turnId: "t", at: 1, role: "user", text: "hi", calls: [], author: { kind: "person", id: "+49" } },
      {
        ...SHOWN,
        turnId: "t",
        at: 2,
        role: "assistant",
        text: "ho",
        calls,
        state: "failed",
        problem: { code: "MODEL_REFUSED", reason: "No." },
      },
    );
  }

  override async start(options: HarnessOptions = {}): Promise<this> {
    await super.start({ ...options, config: { trust_forwarded_headers: true, ...options.config } });
    if (!isOfPage(this.spec)) return this;
    const { headers } = await signIn(this, this.tokens.operator);
    this.#page = headers;
    if (this.spec.path === "/api/push/test") {
      const body = JSON.stringify(STRICT["PUT /api/push"]);
      await call(this, {
        method: "PUT",
        path: "/api/push",
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
    }
    return this;
  }

  /** A request that is answered 200, but for what is `changed`. */
  async ask(changed: Call = {}): Promise<Answer> {
    const { method, access, body } = this.spec;
    const headers = {
      ...(access !== "public" && !isOfPage(this.spec) && { authorization: `Bearer ${this.tokens.operator}` }),
      ...(changed.headers?.["authorization"] === undefined && this.#page),
      ...(body && { "content-type": "application/json" }),
      ...(this.spec.path === "/api/session" && { origin: `http://localhost:${this.port}` }),
      ...(takesCode(this.spec) && { "x-pairing-code": this.gateway.pairing.issueCode({ scope: "read" }).code }),
      ...changed.headers,
    };
    const sent = body && { body: JSON.stringify(STRICT[`${method} ${this.spec.path}`] ?? LENIENT) };
    return call(this, { method, path: this.path(), ...sent, ...changed, headers });
  }

  path(id?: string): string {
    const { path } = this.spec;
    const known = Object.entries(KNOWN).find(([start]) => path.startsWith(start))?.[1] ?? "mine";
    if (path === "/api/sessions/search") return `${path}?q=hi`;
    return path
      .replace("{step_id}", "step-1")
      .replace("{session}", "session-1")
      .replace("{turn}", "t-1")
      .replace("{file}", "00000000000000aa")
      .replace("{id}/reply", `${id ?? "people"}/reply`)
      .replace(/\{\w+\}/, id ?? known);
  }
}

/** Of a message of a turn that is done. */
export const SHOWN = {
  state: "done",
  kind: "message",
  author: undefined,
  files: [],
  replaced: false,
  problem: undefined,
} as const;

/** Fits every route that takes no notice of what it does not know. */
const LENIENT = { message: "hi", type: "build", approved: true, name: "editor" };
/** By route. */
const STRICT: Readonly<Record<string, object>> = {
  "PUT /api/push": subscriptionOf(makeBrowserKeys()),
  "PATCH /api/sessions/{id}": { title: "Backup", pinned: true },
  "POST /api/sessions/{id}/read": { turns: 1 },
  "PATCH /api/settings": { revision: REVISION, edits: [{ path: ["gateway", "port"], value: 1 }] },
  "POST /api/settings/preview": { edits: [{ path: ["gateway", "port"], remove: true }] },
  "POST /api/settings/versions/{id}/undo": { revision: REVISION },
  "POST /api/settings/models": { edits: [] },
  "POST /api/settings/model-test": { edits: [], agent: "default" },
  "POST /api/doctor": { security: true },
  "POST /api/backups": {},
  "POST /api/settings/channel-test": { channel: "pager", to: "+49" },
  "POST /api/sop-drafts": {
    name: "deploy",
    toml: "[sop]",
    markdown: null,
    edits: [
      { path: ["sop", "priority"], value: "high" },
      { step: 1, move: 2 },
    ],
  },
  "PUT /api/sops/{name}": { toml: "[sop]", markdown: "## Steps", revision: REVISION },
  "POST /api/sops/{name}/copies": { name: "copy" },
  "POST /api/sops/{name}/rename": { name: "other" },
  "POST /api/sop-versions/{id}/undo": { revision: REVISION },
  "PATCH /api/sops/{name}": { enabled: false },
  "POST /api/sops/{name}/test-runs": { trigger: 0, payload: { a: 1 } },
  "POST /api/sop-runs/{id}/retry": { step: 1 },
};

const isOfPage = ({ path }: RouteSpec): boolean => path.startsWith("/api/push");

/** What there is one of. */
const KNOWN = {
  "/api/devices": "dev-read",
  "/api/inbox": "in-12",
  "/api/files": "00000000000000aa",
  "/api/approvals": "run-3",
  "/api/policy-rules": "rule-1",
  "/api/sops": "deploy",
  "/api/sop-runs": "run-2",
  "/api/sop-versions": "3",
  "/api/settings/versions": "3",
};

/** By a code, since what can go wrong with a token is the same everywhere. */
const takesCode = ({ method, path }: RouteSpec): boolean =>
  path === "/pair" || (method === "POST" && path === "/api/session");

export type Provocation = (world: World) => Promise<Answer>;
export const asked =
  (changed: Call = {}, options: HarnessOptions = {}): Provocation =>
  async (world) =>
    (await world.start(options)).ask(changed);
export const times = async (count: number, ask: () => Promise<Answer>): Promise<Answer> => {
  for (let done = 1; done < count; done += 1) await ask();
  return ask();
};
