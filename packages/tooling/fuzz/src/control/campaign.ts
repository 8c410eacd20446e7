/** Attacks the control socket of a separate daemon, and checks afterwards that it still works. */
import { connect } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { sample } from "../attacks/index.ts";
import { bytesOf } from "../attacks/request.ts";
import { startVictim, type Victim } from "../place/daemon.ts";
import { judgeLog } from "../place/log.ts";
import { exchange } from "../wire/exchange.ts";
import { controlAttacks } from "./attacks.ts";
import { judgeControl } from "./judge.ts";

export interface ControlOptions {
  readonly seed: number;
  readonly count: number;
  readonly binary?: string;
  readonly say?: (line: string) => void;
}

export interface ControlReport {
  readonly sent: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const PATIENCE = { promptMs: 60_000, slowMs: "leave" } as const;
const WIDTH = 16;
const PART = 64;
const CALLS_AT_ONCE = 1_000;
/** More than the socket takes. */
const HUGE_BYTES = 20 * 1024 * 1024;

export async function attackControl({ seed, count, binary, say = () => {} }: ControlOptions): Promise<ControlReport> {
  await using victim = await startVictim({ trusting: false, ...(binary !== undefined && { binary }) });
  const path = join(victim.daemon.home, "run/control.sock");
  const kinds: Record<string, number> = {};
  const problems = new Map<string, string[]>();
  const note = (problem: string, example = ""): void => {
    problems.set(problem, [...(problems.get(problem) ?? []), example]);
  };
  for (let made = 0; made < count; made += PART) {
    const waiting = sample(controlAttacks(), seed, made / PART, Math.min(PART, count - made));
    const work = async (): Promise<void> => {
      for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift()) {
        const { kind, steps } = attack;
        kinds[kind] = (kinds[kind] ?? 0) + 1;
        const sent = steps.flatMap((step) => ("write" in step ? [step.write] : []));
        const begin = JSON.stringify(Buffer.concat(sent).toString("latin1", 0, 400));
        const found = judgeControl(attack, await exchange(attack, { path }, PATIENCE));
        for (const problem of found) note(`control socket: ${kind}: ${problem}`, begin);
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, work));
  }
  const answered = await manyAtOnce(path);
  if (answered !== CALLS_AT_ONCE) note(`control socket: of ${CALLS_AT_ONCE} calls at once ${answered} were answered`);
  if (!(await refusesHuge(path))) note("control socket: a huge body is not refused with TOO_LARGE");
  for (const problem of await judgeEnd(victim)) note(problem);
  const lines = Array.from(problems, ([problem, [first = "", ...more]]) =>
    [problem, more.length > 0 ? `(${more.length + 1} times)` : "", first].join(" ").trim(),
  );
  say(`control socket  ${count} sent, ${CALLS_AT_ONCE} calls at once, ${lines.length} kinds of problems`);
  return { sent: count, kinds, problems: lines };
}

async function manyAtOnce(path: string): Promise<number> {
  const answers = await Promise.all(Array.from({ length: CALLS_AT_ONCE }, () => call(path, "ping", Buffer.from("{}"))));
  return answers.filter((answer) => answer.includes('"type":"result"')).length;
}

async function refusesHuge(path: string): Promise<boolean> {
  const body = Buffer.alloc(HUGE_BYTES, "x");
  return (await call(path, "ping", body)).includes("TOO_LARGE");
}

function call(path: string, name: string, body: Buffer): Promise<string> {
  const bytes = bytesOf({
    method: "POST",
    target: `/${name}`,
    headers: [
      ["Host", "localhost"],
      ["Connection", "close"],
    ],
    body,
  });
  return new Promise((resolve) => {
    const open = (): void => {
      const socket = connect({ path });
      let text = "";
      let isRefused = false;
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      // The kernel's queue of a Unix socket is full: unlike TCP, connect fails at once.
      socket.on("error", (cause: NodeJS.ErrnoException) => (isRefused = cause.code === "EAGAIN"));
      socket.on("close", () => (isRefused ? setTimeout(open, 10) : resolve(text)));
      socket.write(bytes);
    };
    open();
  });
}

async function judgeEnd({ daemon, secrets }: Victim): Promise<string[]> {
  const found: string[] = [];
  const status = await runBinary(["status", "--json"], { home: daemon.home });
  if (status.code !== 0) found.push(`svc status ends with ${status.code} afterwards`);
  const chat = await runBinary(["chat", "-m", "still there?"], { home: daemon.home });
  if (!chat.stdout.includes("still there?")) found.push("a turn over the control socket does not work afterwards");
  if ((await daemon.request("/health")).status !== 200) found.push("/health is not 200 afterwards");
  const exit = await daemon.stop();
  if (exit.code !== 0) found.push(`the daemon ended with ${exit.code ?? exit.signal}`);
  return [...found, ...judgeLog(daemon.output(), secrets, ["mark"])];
}
