/** Sandboxes that are broken on purpose: none at all, and bubblewrap with one mistake each. */
import { spawn, type SpawnOptions } from "node:child_process";
import { type Confinement, defineFeature, type FeatureDefinition, type SandboxProbe } from "@svc/contract";
import {
  type ConfinedCommand,
  type Confining,
  confinedSession,
  limitBySigns,
  withoutDescriptors,
} from "@svc/kit/process";

type Start = (command: ConfinedCommand, confinement: Confinement) => ReturnType<Confining["start"]>;

const HOLDS_NONE: SandboxProbe = { available: true, unenforced: ["memoryMb", "cpuSecs", "pids"] };

export const fake = (start: Start, probe: SandboxProbe = HOLDS_NONE, tells = true): FeatureDefinition =>
  defineFeature({
    id: "sandbox-fake",
    extends: "security.sandbox",
    when: () => true,
    load: async () => ({
      create: ({ clock }) => ({
        sandbox: {
          id: "fake",
          probe: async () => probe,
          open: async (confinement) =>
            confinedSession(
              confinement,
              {
                start: (command) => start(command, confinement),
                judge: (result) => {
                  const limit = tells ? limitBySigns(result, confinement.limits) : undefined;
                  return limit ? { ...result, limit } : result;
                },
              },
              { clock },
            ),
        },
      }),
    }),
  });

const plain = ({ folder, env, hasInput }: ConfinedCommand, { user }: Confinement): SpawnOptions => ({
  cwd: folder,
  env,
  stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
  detached: true,
  ...user,
});

/** Confines nothing. */
export const unconfined: Start = (command, confinement) => {
  const [file, ...args] = command.words;
  return spawn(file, args, plain(command, confinement));
};

const SYSTEM =
  "--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 " +
  "--dev /dev --tmpfs /tmp --proc /proc --remount-ro /proc";

/** Bubblewrap as it should be, but for limits and root; each fake changes its options. */
export const bubblewrap =
  (
    change: (options: string[], confinement: Confinement) => string[] = (options) => options,
    entry = `ulimit -c 0; ${withoutDescriptors('exec "$@"')}`,
  ): Start =>
  (command, confinement) => {
    const { workspace, readable, writable, network } = confinement;
    const options = [
      ...SYSTEM.split(" "),
      ...readable.flatMap((path) => ["--ro-bind-try", path, path]),
      ...writable.flatMap((path) => ["--bind-try", path, path]),
      "--bind",
      workspace,
      workspace,
      "--unshare-all",
      "--unshare-user",
      "--disable-userns",
      ...(network ? ["--share-net"] : []),
      ..."--die-with-parent --new-session --cap-drop ALL".split(" "),
    ];
    return spawn("bwrap", [...change(options, confinement), "--", "/bin/sh", "-c", entry, "sh", ...command.words], {
      ...plain(command, confinement),
      env: { ...command.env },
    });
  };

/** Without an option and as many words after it. */
export const less = (option: string, values = 0) =>
  bubblewrap((options) => options.toSpliced(options.indexOf(option), values + 1));
/** What the shell inside does before it becomes the command. */
export const entered = (entry: string) => bubblewrap(undefined, entry);
export const more = (...added: string[]) => bubblewrap((options) => [...options, ...added]);

/** Everything that the daemon's environment holds. */
export const leakyEnvironment: Start = (command, confinement) => {
  const [file, ...args] = command.words;
  return spawn(file, args, { ...plain(command, confinement), env: { ...process.env, ...command.env } });
};

/** Words joined into a line for the shell. */
export const joinedWords: Start = (command, confinement) =>
  spawn("/bin/sh", ["-c", command.words.join(" ")], plain(command, confinement));
