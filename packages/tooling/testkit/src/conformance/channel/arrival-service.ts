/** A service whose channel keeps a connection: its disk, its inbox, people who write, and one process after the other. */
import { type ErrorCode, type StateStore, SvcError } from "@svc/contract";
import { demand, errorText } from "../../check.ts";
import { fakeClock, type FakeClock } from "../../fake-clock.ts";
import { memorySecrets } from "../../memory-secrets.ts";
import { type ArrivalInbox, arrivalInbox } from "./arrival-inbox.ts";
import { type Process, startProcess } from "./arrival-process.ts";
import { NOW_MS } from "./delivered.ts";
import { LATER } from "./judge.ts";
import type { Bench } from "./open.ts";
import { until } from "./patience.ts";
import { demandNoSecret } from "./secrets.ts";
import type { ArrivalSubject, ChannelPlatform } from "./subject.ts";

export interface ArrivalService {
  readonly bench: Bench;
  readonly platform: ChannelPlatform;
  readonly arrivals: ArrivalSubject;
  readonly inbox: ArrivalInbox;
  readonly clock: FakeClock;
  /** The next process over the same disk. */
  start(): Promise<Process>;
  /** As it, once it takes what is written. */
  connected(): Promise<Process>;
  /** Writes until a message is received: a platform may lose messages while the channel is not connected. */
  greet(process: Process): Promise<void>;
  /** The person writes so many messages; resolves with their numbers. */
  write(count?: number, as?: "person" | "stranger" | "own"): Promise<number[]>;
  /** Demands that these messages are on disk, and that nothing else came after the greetings. */
  receives(process: Process, numbers: readonly number[]): Promise<void>;
  /** The disk is as it is now for the next start; what `process` still writes is lost, as after a kill. */
  leaveBehind(): Promise<void>;
}

export async function withService(bench: Bench, work: (service: ArrivalService) => Promise<void>): Promise<void> {
  const { subject, promptMs } = bench;
  const { arrivals } = subject;
  if (arrivals === undefined) throw new Error("its tests hand in no arrivals");
  const platform = await subject.platform();
  const section = subject.config(platform);
  const clock = fakeClock(NOW_MS);
  const inbox = arrivalInbox();
  // Only what hangs is waited for so long.
  const limitMs = promptMs * 4;
  const disk = { state: memorySecrets(), secrets: memorySecrets() };
  const processes: Process[] = [];
  let written = 0;
  let greetings = 0;

  const numbers = (): number[] => inbox.kept.slice(greetings).map(({ text }) => numberIn(text));
  const start = async (): Promise<Process> => {
    const process = await startProcess(bench, platform, section, { ...disk, clock, receive: inbox.receive });
    processes.push(process);
    return process;
  };
  const write: ArrivalService["write"] = async (count = 1, as = "person") => {
    const ours: number[] = [];
    for (let more = 0; more < count; more += 1) {
      written += 1;
      ours.push(written);
      const message = { id: `message-${written}`, text: textOf(written), atMs: clock.now() };
      const from = as === "stranger" ? arrivals.stranger : arrivals.person;
      await (as === "own" ? arrivals.writeOwn : arrivals.write)?.(platform, { ...message, from });
    }
    return ours;
  };
  const greet: ArrivalService["greet"] = async (process) => {
    const before = inbox.kept.length;
    const isHeard = () => inbox.kept.length > before || process.over !== undefined;
    let [last] = await write();
    for (let waitMs = FIRST_GREETING_MS; waitMs < limitMs; waitMs *= 2) {
      if (await until(clock, isHeard, waitMs, 0)) break;
      [last] = await write();
    }
    demand(process.over === undefined, `run is not started again: ${process.over}`);
    const isLast = () => numberIn(inbox.kept.at(-1)?.text ?? "") === last;
    demand(await until(clock, isLast, limitMs), `what is written is not received${failedWith(process)}`);
    greetings = inbox.kept.length;
  };
  const service: ArrivalService = {
    bench,
    platform,
    arrivals,
    inbox,
    clock,
    start,
    write,
    greet,
    async connected() {
      const process = await start();
      await greet(process);
      return process;
    },
    async receives(process, expected) {
      const [last] = expected.slice(-1);
      await until(clock, () => numbers().includes(last!) || process.over !== undefined, limitMs);
      demand(process.over === undefined, `run is not started again: ${process.over}`);
      const got = numbers();
      const missing = expected.filter((number) => !got.includes(number));
      demand(missing.length === 0, `${missing.length} of ${expected.length} are not received${failedWith(process)}`);
      demand(new Set(got).size === got.length, "a message is received twice, under two ids");
      demand(got.length === expected.length, "something is received that nobody wrote, or that nobody may");
      demand(got.join() === expected.join(), "messages are received in another order than they were written in");
    },
    async leaveBehind() {
      disk.state = await copyOf(disk.state);
      disk.secrets = await copyOf(disk.secrets);
    },
  };
  try {
    await work(service);
    for (const process of processes) {
      await process.stop();
      demandQuiet(process);
    }
  } finally {
    for (const process of processes) await process.stop().catch(() => undefined);
    await platform.close();
  }
}

/** What `run` may fail with, to be started again: the platform's fault, or the inbox's. */
export function demandTriedAgain({ failures }: Process, codes: readonly ErrorCode[] = LATER): void {
  for (const error of failures) {
    demand(error instanceof SvcError, `run throws what is no SvcError: ${errorText(error)}`);
    demand(codes.includes(error.code), `run throws ${error.code}, expected is ${codes.join(" or ")}`);
  }
}

function demandQuiet({ opened, failures }: Process): void {
  demandNoSecret(opened.secrets, "the log", opened.log.text());
  for (const error of failures) demandNoSecret(opened.secrets, "an error of run", error);
}

/** Real time until the next one, which doubles. */
const FIRST_GREETING_MS = 100;

const textOf = (number: number): string => `Message ${number}.`;
const numberIn = (text: string): number => Number(/Message (\d+)\./.exec(text)?.[1]);

const failedWith = ({ failures }: Process): string =>
  failures.length === 0 ? "" : `; run: ${errorText(failures.at(-1))}`;

async function copyOf(store: StateStore): Promise<StateStore> {
  const entries = (await store.list()).map(async (name) => [name, (await store.get(name)) ?? ""] as const);
  return memorySecrets(Object.fromEntries(await Promise.all(entries)));
}
