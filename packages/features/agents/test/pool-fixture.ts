// A pool without processes: its children are fakes in this process, its clock stands still, its store is memory.
import { PassThrough } from "node:stream";
import { type AgentLoan, type ClientId, type Interaction, type StateStore, SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import * as v from "valibot";
import { poolConfig } from "../src/config.ts";
import { AgentPool, type NewAgent } from "../src/pool.ts";
import { FakeAcpAgent, type Mood, MOODS, schemaCheck } from "./fake-acp.ts";

export const OWNER = "client-1" as ClientId;
const validate = await schemaCheck();

export interface FakeChild {
  readonly agent: FakeAcpAgent;
  readonly violations: string[];
  /** As `kill -9`. */
  readonly kill: () => void;
  /** Its output breaks, and it lives on. */
  readonly breakPipe: () => void;
  isOver: boolean;
}

export interface Approvals {
  approve: boolean;
  /** Set: nobody answers before it resolves. */
  wait?: Promise<unknown>;
  readonly asked: unknown[];
}

export function poolFixture(section: object = {}, state: StateStore = memorySecrets()) {
  const programs = Object.fromEntries(MOODS.map((mood) => [mood, { command: [mood] as [string] }]));
  const config = v.parse(poolConfig, { programs, ...section });
  const clock = fakeClock();
  const children: FakeChild[] = [];
  const approvals: Approvals = { approve: true, asked: [] };
  const turnEnds = new Set<(turnId: string) => void>();
  const loan: AgentLoan = {
    workspace: "/workspace",
    maxSteps: 5,
    askModel: () => Promise.reject(new SvcError("MODEL_REFUSED")),
    callTool: () => Promise.reject(new SvcError("TOOL_FAILED")),
    async askPerson(question, signal) {
      approvals.asked.push(question);
      const gone = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => gone.reject(signal.reason), { once: true });
      gone.promise.catch(() => undefined);
      await Promise.race([approvals.wait, ...(approvals.wait ? [gone.promise] : [])]);
      return { approved: approvals.approve };
    },
    runProgram: ({ command: [mood], interact }, signal) => runFake(mood as Mood, interact, signal, children),
  };
  const context = fakeFeatureContext(config, {
    clock,
    state,
    child: (name) => (name === "agent-keeper" ? ["/bin/true"] : ["/nowhere"]),
    agents: {
      callerOf: () => ({ rights: { agent: "main" }, clientId: OWNER, turnId: "turn-1" }),
      rightsOf: (agent = "main") => ({ agent }),
      operator: async () => OWNER,
      lend: () => loan,
      onTurnEnd: (listener) => {
        turnEnds.add(listener);
        return () => turnEnds.delete(listener);
      },
    },
  });
  const pool = new AgentPool(context);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    pool,
    clock,
    context,
    state,
    children,
    approvals,
    async start() {
      running = pool.run(stop.signal);
      while (!pool.isRunning) await settled();
    },
    async stop() {
      stop.abort();
      await running;
    },
    endTurn: (turnId: string) => turnEnds.forEach((listener) => listener(turnId)),
    make: (mood: string, more: Partial<NewAgent> = {}) =>
      pool.create({
        prompt: "do it",
        program: mood,
        rights: { agent: "main" },
        owner: OWNER,
        endsWith: undefined,
        madeBy: undefined,
        ...more,
      }),
    /** Resolves when it has this state. */
    async becomes(id: string, status: string) {
      const wanted = (): boolean => pool.get(id).record.status === status;
      await pool.watch(wanted, 1e9, AbortSignal.timeout(20_000));
      return pool.get(id).record;
    },
  };
}

/** Everything that is due now. */
export const settled = async (): Promise<void> => {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

let nextPid = 2_000_000_000;

function runFake(
  mood: Mood,
  interact: (interaction: Interaction) => void,
  signal: AbortSignal,
  children: FakeChild[],
): Promise<{ exitCode: number | null }> {
  const output = new PassThrough({ highWaterMark: 65_536 });
  output.on("error", () => undefined);
  const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
  const violations: string[] = [];
  const over = (): void => {
    child.isOver = true;
    output.end();
    exit();
  };
  const agent = new FakeAcpAgent({
    mood,
    validate,
    onViolation: (text) => void violations.push(text),
    exit: over,
    send: (line) =>
      new Promise((resolve) => {
        // A process that is gone writes no more, and its code runs no more.
        if (child.isOver || output.destroyed) return;
        if (output.write(`${line}\n`)) resolve();
        else output.once("drain", () => resolve());
      }),
  });
  const child: FakeChild = { agent, violations, kill: over, breakPipe: () => output.end(), isOver: false };
  children.push(child);
  signal.addEventListener("abort", over, { once: true });
  let rest = "";
  nextPid += 1;
  interact({
    pid: nextPid,
    exited,
    output,
    async write(chunk) {
      if (child.isOver) throw new SvcError("TOOL_FAILED", "The program reads no more.");
      const lines = `${rest}${Buffer.from(chunk).toString()}`.split("\n");
      rest = lines.pop()!;
      for (const line of lines) void agent.take(line);
    },
  });
  return exited.then(() => ({ exitCode: null }));
}
