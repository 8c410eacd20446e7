/** A daemon in group chats of many platforms at once, whose agent asks before it acts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { eventually } from "../channel-fixture.ts";
import { type Chat, next, type Post, type Posted, SECRETS } from "./chat.ts";
import { discord, slack, telegram } from "./connected-chats.ts";
import { workchat } from "./workplace-chat.ts";
import { email, providerA, providerB, providerC, providerD } from "./posting-chats.ts";

/** A question that waits. */
export interface Question {
  readonly n: number;
  readonly room: string;
  readonly slug: string;
  /** As people see it. */
  readonly posted: Posted;
}

export interface ApprovalEntry {
  readonly n: number;
  readonly message: string;
  readonly status: string;
  readonly answer: { readonly approved: boolean; readonly feedback: string | null; readonly by: string } | null;
}

export interface Settled {
  readonly status: string;
  readonly feedback: string | null | undefined;
  readonly by: string | undefined;
}

export interface GroupsFixture extends AsyncDisposable {
  readonly home: string;
  readonly chats: Readonly<Record<string, Chat>>;
  daemon: RunningBinary;
  /** Of an operator. */
  readonly token: string;
  /** The member asks the agent to act in a room; resolves once the question for it is posted there. */
  ask(chat: Chat, room?: string): Promise<Question>;
  approval(n: number): Promise<ApprovalEntry>;
  /** Resolves when it waits no longer: how it ended, by whose answer, and what that said. */
  settled(question: Pick<Question, "n">): Promise<Settled>;
  /** What the guarded action has written: a line for each time. */
  done(question: Pick<Question, "slug">): string;
  kill9(): Promise<void>;
  start(): Promise<void>;
  /** Of all processes so far. */
  output(): string;
}

/** A model that calls the guarded tool when asked to act, and reports the result. */
function script({ body }: ModelRequest): ModelStep {
  const { role, content } = (body["messages"] as { role: string; content: string }[]).at(-1)!;
  if (role === "tool") return { text: "the tool was called" };
  const slug = /\bact (s[0-9]+)\b/.exec(content)?.[1];
  if (slug === undefined) return { text: "heard" };
  return { calls: [{ name: "file_write", input: { path: `${slug}.txt`, content: "once\n", mode: "append" } }] };
}

export async function startGroups(): Promise<GroupsFixture> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const model = stack.use(await fakeModelServer({ script }));
  const deliverers = new Map<string, ReturnType<typeof startDeliverer>>();
  const post: Post = async (path, delivery) => {
    const url = (): string => `${fixture.daemon.url}${path}`;
    const deliverer = deliverers.get(path) ?? stack.use(startDeliverer({ url, attempts: 1 }));
    deliverers.set(path, deliverer);
    const { acknowledged, statuses } = await deliverer.deliver(delivery);
    if (!acknowledged) throw new Error(`${path} was answered ${statuses.join(", ")}`);
  };
  const a = await providerA(stack, post);
  const made = [
    await telegram(stack),
    await discord(stack),
    await slack(stack),
    await email(stack),
    a,
    await providerB(stack, post),
    await providerC(stack, post),
    await providerD(stack, post),
    await workchat(stack),
  ];
  const sections = made.map(({ section }) => section).join("\n");
  writeFileSync(join(home.path, "config.toml"), `${modelSection(model)}\n${sections}\n`, { mode: 0o600 });
  const outputs: string[] = [];
  const list = async (query: string): Promise<readonly ApprovalEntry[]> => {
    const answer = await fixture.daemon.request(`/api/approvals?limit=200${query}`, { token: fixture.token });
    return ((await answer.json()) as { approvals: ApprovalEntry[] }).approvals;
  };
  const fixture: GroupsFixture = {
    home: home.path,
    chats: { ...Object.fromEntries(made.map(({ chat }) => [chat.channel, chat])), provider_a_direct: a.direct },
    // Set by `start`.
    daemon: undefined as unknown as RunningBinary,
    token: "",
    async ask(chat, room = chat.openRoom()) {
      const slug = `s${next()}`;
      await chat.write(room, `act ${slug}`, { from: "member" });
      const [asked] = await eventually(
        async () => (await list("&status=waiting")).filter(({ message }) => message.includes(`"${slug}.txt"`)),
        ({ length }) => length === 1,
      );
      if (!asked) throw new Error(`${chat.channel} asked nothing:\n${fixture.daemon.output().slice(-4000)}`);
      const { n } = asked;
      const posted = await eventually(
        () => chat.posted().find(({ text }) => text.includes(`Approval needed (#${n})`)),
        (found) => found !== undefined,
      );
      return { n, room, slug, posted: posted! };
    },
    async approval(n) {
      return (await list(`&before=${n + 1}`)).find((entry) => entry.n === n)!;
    },
    async settled({ n }) {
      const { status, answer } = await eventually(
        () => fixture.approval(n),
        (entry) => entry.status !== "waiting",
      );
      return { status, feedback: answer?.feedback, by: answer?.by };
    },
    done({ slug }) {
      try {
        return readFileSync(join(home.path, "workspace", `${slug}.txt`), "utf8");
      } catch {
        return "";
      }
    },
    async kill9() {
      await fixture.daemon.kill9();
      outputs.push(fixture.daemon.output());
    },
    output: () => [...outputs, fixture.daemon.output()].join("\n"),
    async start() {
      fixture.daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
      await eventually(
        () => fixture.daemon.output().match(/the platform knows this channel/g)?.length ?? 0,
        (known) => known >= made.length,
      );
    },
    async [Symbol.asyncDispose]() {
      await (fixture.daemon as RunningBinary | undefined)?.close();
      await stack.disposeAsync();
    },
  };
  await fixture.start();
  return Object.assign(fixture, { token: await fixture.daemon.pair() });
}

const modelSection = ({ url }: FakeModelServer): string => `
[agent]
max_parallel_turns = 200

[model]
provider = "openai-compatible"
name = "fake"
base_url = "${url}"
api_key = "${SECRETS.model}"
max_retries = 0
`;
