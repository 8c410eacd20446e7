/** A governed fixture with procedures, and a model that does what a step's text says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { type ChannelFixture, eventually, startChannelFixture } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { APPROVER, type ProcedureFiles, writeProcedure } from "./governed-fixture.ts";

export interface ApprovalLine {
  readonly n: number;
  readonly run_id: string;
  readonly step_id: string;
  readonly origin: string;
  readonly title: string;
  readonly message: string;
  readonly status: string;
  readonly answer: {
    readonly approved: boolean;
    readonly by: string;
    readonly via: string;
    readonly at: string;
  } | null;
}

export interface RunLine {
  readonly id: string;
  readonly n: number;
  readonly sop: string;
  readonly status: string;
  readonly step: number;
  readonly topic: string;
  readonly error: string | null;
  readonly reason: string | null;
}

export interface RunDetail extends RunLine {
  readonly payload: string | null;
  readonly steps: readonly {
    readonly status: string;
    readonly output: unknown;
    readonly approval: ApprovalLine | null;
  }[];
}

export interface AuditLine {
  readonly n: number;
  readonly kind: string;
  readonly data: { readonly run_id: string; readonly step_id?: string; readonly step?: number };
}

export interface Answered<T> {
  readonly status: number;
  readonly body: T & { readonly code?: string; readonly error?: string };
}

export interface ProceduresFixture extends AsyncDisposable {
  readonly chat: ChannelFixture;
  readonly home: string;
  readonly model: FakeModelServer;
  readonly token: string;
  /** Resolves when the service has read it. */
  write(procedures: Readonly<Record<string, ProcedureFiles>>): Promise<void>;
  api<T = object>(
    path: string,
    body?: object | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered<T>>;
  /** By name; resolves with the run's id. */
  run(name: string, payload?: object): Promise<string>;
  show(id: string): Promise<RunDetail>;
  /** Resolves when the run has this status. */
  becomes(id: string, ...statuses: readonly string[]): Promise<RunDetail>;
  approvals(status?: string): Promise<readonly ApprovalLine[]>;
  answer(runId: string, stepId: string, approved: boolean, feedback?: string): Promise<Answered<ApprovalLine>>;
  audit(): Promise<readonly AuditLine[]>;
  /** Text of a file of the workspace; "" where there is none. */
  file(name: string): string;
  /** The wire is quiet: no message waits to be sent. */
  delivered(): Promise<void>;
  killed(): Promise<void>;
  begin(env?: Readonly<Record<string, string>>): Promise<void>;
}

export interface ProceduresOptions {
  /** Beside the model and the limits. */
  readonly config?: string;
  readonly script?: (request: ModelRequest) => ModelStep;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startProcedures(options: ProceduresOptions = {}): Promise<ProceduresFixture> {
  const { config = "", script = obey } = options;
  const model = await fakeModelServer({ script });
  const chat = await startChannelFixture(`${localModel(model)}\n${config}`, APPROVER);
  const token = await chat.daemon.pair();
  let env = options.env ?? {};
  const fixture: ProceduresFixture = {
    chat,
    home: chat.home,
    model,
    token,
    async write(procedures) {
      for (const [name, files] of Object.entries(procedures)) writeProcedure(chat.home, name, files);
      await chat.json("sop", "list");
    },
    async api(path, body, headers = {}) {
      const method = body === undefined ? {} : { method: "POST", body };
      const response = await chat.daemon.request(path, { token, headers, ...method });
      return { status: response.status, body: (await response.json()) as never };
    },
    async run(name, payload = {}) {
      const { status, body } = await fixture.api<{ run_id: string }>(`/api/sops/${name}/runs`, payload);
      if (status !== 202) throw new Error(`${name} was not started: ${JSON.stringify(body)}`);
      return body.run_id;
    },
    show: async (id) => (await fixture.api<RunDetail>(`/api/sop-runs/${id}`)).body,
    async becomes(id, ...statuses) {
      const run = await eventually(
        () => fixture.show(id),
        ({ status }) => statuses.includes(status),
      );
      if (!statuses.includes(run.status)) throw new Error(`${run.sop} stays ${run.status} at step ${run.step}`);
      return run;
    },
    async approvals(status) {
      const query = status === undefined ? "" : `&status=${status}`;
      return (await fixture.api<{ approvals: ApprovalLine[] }>(`/api/approvals?limit=200${query}`)).body.approvals;
    },
    answer: (runId, stepId, approved, feedback) =>
      fixture.api(`/api/approvals/${encodeURIComponent(runId)}/${stepId}`, {
        approved,
        ...(feedback !== undefined && { feedback }),
      }),
    audit: async () =>
      (await chat.json<{ entries: AuditLine[] }>("audit", "list", "--limit", "1000")).entries.toReversed(),
    file(name) {
      try {
        return readFileSync(join(chat.home, "workspace", name), "utf8");
      } catch {
        return "";
      }
    },
    async delivered() {
      type Counts = { counts: { outbox: { waiting?: number } } };
      await eventually(
        async () => (await fixture.api<Counts>("/api/inbox?limit=1")).body.counts.outbox.waiting ?? 0,
        (waiting) => waiting === 0,
      );
    },
    killed: async () => void (await chat.daemon.kill9()),
    async begin(other = env) {
      env = other;
      chat.daemon = await startBinary({ home: chat.home, env });
    },
    async [Symbol.asyncDispose]() {
      await chat[Symbol.asyncDispose]();
      await model.close();
    },
  };
  return fixture;
}

interface Shown {
  readonly role: string;
  readonly content: unknown;
}

const textOf = ({ content }: Shown): string => (typeof content === "string" ? content : JSON.stringify(content));

export const messagesOf = ({ body }: ModelRequest): readonly Shown[] => body["messages"] as unknown as Shown[];

/** All that people and tools said in it, the last at the end. */
export const wordsOf = (request: ModelRequest): string => messagesOf(request).map(textOf).join("\n");

/** Names of the tools that the model is offered. */
export const toolsOf = ({ body }: ModelRequest): readonly string[] =>
  ((body["tools"] ?? []) as { function: { name: string } }[]).map(({ function: { name } }) => name);

/** What `Call <tool> <input>` in the text says, once; then what came of it. */
export function obey(request: ModelRequest): ModelStep {
  const messages = messagesOf(request);
  const at = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  const call = /^Call (\w+) (\{.*\})$/m.exec(textOf(messages[at]!));
  if (call && results.length === 0) return { calls: [{ name: call[1]!, input: JSON.parse(call[2]!) as never }] };
  return { text: results.length > 0 ? `It came to ${textOf(results.at(-1)!)}` : "It is done." };
}

/** A procedure that people start by name. */
export const manual = (sop: string, more = ""): string =>
  `[sop]\ndescription = "Of the test."\n${sop}\n\n[[triggers]]\ntype = "manual"\n${more}`;

export const steps = (...bodies: readonly string[]): string =>
  `# Of the test\n\n## Steps\n\n${bodies.map((body, index) => `${index + 1}. **Step ${index + 1}** — ${body}\n`).join("\n")}`;
