/** The shell of the guide's reader: one block after the other, with the variables and the folder that the last one left. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Block } from "./blocks.ts";

export interface Shell {
  /** Resolves with what was printed. Throws when the block is not as its page says. */
  run(block: Block, text: string): Promise<string>;
  /** Ctrl-C for what keeps running. Resolves when it has ended. */
  interrupt(): Promise<void>;
  /** Everything that what keeps running has printed. */
  readonly running: string;
  close(): Promise<void>;
}

/** What hangs; a build takes a minute beside other work. */
const LIMIT_MS = 500_000;

/** `folder`: for this shell's own files. `cwd`: where it begins. */
export function openShell(folder: string, cwd: string, env: Readonly<Record<string, string>>): Shell {
  const [blockFile, wrapper, left] = ["block.sh", "wrapper.sh", "left"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(folder, { recursive: true });
  // `set -a`: a variable of this block is there in the next one. The sourced text is the page's and nothing else.
  writeFileSync(
    wrapper,
    `set -euo pipefail; set -a; trap 'pwd > "${left}.cwd"; env -0 > "${left}.env"' EXIT; source "${blockFile}"\n`,
  );
  let background: Running | undefined;

  const begin = (block: Block, text: string): Running => {
    writeFileSync(blockFile, `${text}\n`);
    const place = existsSync(`${left}.cwd`) ? readFileSync(`${left}.cwd`, "utf8").trimEnd() : cwd;
    const terminal = block.types.length > 0;
    const [program, args] = terminal ? [SCRIPT, ["-qefc", `bash "${wrapper}"`, "/dev/null"]] : ["bash", [wrapper]];
    return watch(
      // A group of its own: a block that hangs is ended with everything it started.
      spawn(program, args, {
        cwd: place,
        env: leftBy(`${left}.env`) ?? env,
        detached: true,
        stdio: [terminal ? "pipe" : "ignore", "pipe", "pipe"],
      }),
      block,
    );
  };

  return {
    get running() {
      return background?.output ?? "";
    },
    async run(block, text) {
      const one = begin(block, text);
      if (block.keepsRunning === undefined) {
        const code = await within(one, one.exited);
        if (code !== block.exits) throw new Error(`ended with ${code}, not with ${block.exits}:\n${one.output}`);
        return one.output;
      }
      if (background) throw new Error("something keeps running already; the page has not said to end it");
      await within(one, one.seen(block.keepsRunning));
      background = one;
      return one.output;
    },
    async interrupt() {
      if (!background) throw new Error("nothing keeps running that could be interrupted");
      const one = background;
      background = undefined;
      one.signal("SIGINT");
      const code = await within(one, one.exited);
      if (code !== 0) throw new Error(`ended with ${code} after Ctrl-C:\n${one.output}`);
    },
    async close() {
      background?.signal("SIGKILL");
      await background?.exited;
    },
  };
}

export const SCRIPT = "/usr/bin/script";

function leftBy(file: string): Record<string, string> | undefined {
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8")
    .split("\0")
    .filter((line) => line.includes("="));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** What is no text and then Enter. */
const KEYS: Readonly<Record<string, string>> = { Enter: "\r", "Ctrl-D": "\x04" };

interface Running {
  readonly output: string;
  readonly exited: Promise<number | null>;
  /** Rejects when it ends before. */
  seen(text: string): Promise<void>;
  /** To the whole group. */
  signal(name: NodeJS.Signals): void;
}

function watch(child: ChildProcess, block: Block): Running {
  let output = "";
  const looking = new Set<() => void>();
  const waiting = [...block.types];
  let from = 0;
  const answer = (): void => {
    for (let next = waiting[0]; next && output.indexOf(next[0], from) >= 0; next = waiting[0]) {
      from = output.indexOf(next[0], from) + next[0].length;
      child.stdin?.write(KEYS[next[1]] ?? `${next[1]}\r`);
      waiting.shift();
    }
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      answer();
      for (const look of looking) look();
    });
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return {
    get output() {
      return output;
    },
    exited,
    seen: (text) =>
      new Promise((resolve, reject) => {
        const look = () => output.includes(text) && resolve();
        looking.add(look);
        look();
        void exited.then(
          (code) => reject(new Error(`ended with ${code} before it printed "${text}":\n${output}`)),
          reject,
        );
      }),
    signal(name) {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, name);
    },
  };
}

async function within<T>(one: Running, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      one.signal("SIGKILL");
      reject(new Error(`is not done after ${LIMIT_MS / 1000} s:\n${one.output}`));
    }, LIMIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
