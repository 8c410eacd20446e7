// Where firejail does not confine: programs that pretend to be it, pid namespaces, and what it can't hide.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, join } from "node:path";
import type { Confinement, SandboxProbe } from "@svc/contract";
import { findProgram, SANDBOX_USER } from "@svc/kit/process";
import { fakeClock } from "@svc/testkit/fake-clock";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { createJail } from "../src/jail.ts";

const never = new AbortController().signal;

function folder(): string {
  const path = mkdtempSync("/var/tmp/svc-jail-");
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const confine = (more: Partial<Confinement> = {}): Confinement => ({
  workspace: folder(),
  network: false,
  readable: [],
  writable: [],
  hidden: [],
  limits: {},
  ...more,
});

const reasonOf = (probe: SandboxProbe): string => (probe.available ? "it is available" : probe.reason);
const probeWith = async (path: string | undefined, confinement = confine()): Promise<string> =>
  reasonOf(await createJail({ clock: fakeClock(), ...(path !== undefined && { path }) }).probe(confinement, never));

/** firejail looks its user up: without one nothing else is judged. */
function needAccount(context: Pick<TestContext, "skip">): void {
  try {
    userInfo();
  } catch {
    context.skip("needs a user with an account");
  }
}

describe("programs that only pretend", () => {
  beforeEach(needAccount);
  const fake = (script: string): string => {
    const path = folder();
    writeFileSync(join(path, "firejail"), `#!/bin/sh\n${script}`);
    chmodSync(join(path, "firejail"), 0o755);
    return `${path}:/usr/bin:/bin`;
  };

  test("one that just runs the command", async () => {
    const script = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';
    expect(await probeWith(fake(script))).toContain("confines no command here");
  });

  test("one that also reads the line and says that it began", async () => {
    const script = 'eval "$(cat <&3)"';
    expect(await probeWith(fake(script))).toMatch(/could read|could write|could reach/);
  });

  test("one that goes well and does nothing", async () => {
    expect(await probeWith(fake("exit 0"))).toContain("confines no command here");
  });

  test("one that says why not is understood", async () => {
    expect(
      await probeWith(fake('echo "Error: invalid --restrict-namespaces command line option" >&2; exit 1')),
    ).toContain("too old");
    expect(await probeWith(fake('echo "Error: the user is not allowed to use Firejail." >&2; exit 1'))).toContain(
      "--add-users",
    );
    expect(
      await probeWith(fake('echo "Error: cannot mount tmpfs on /var/www: not owned by the current user" >&2; exit 1')),
    ).toContain("home folder");
  });
});

test("without firejail it says what to install", async (context) => {
  needAccount(context);
  expect(await probeWith("/nowhere")).toContain("install the package firejail");
});

test.skipIf(process.getuid?.() !== 0)(
  "a daemon whose user has no account is told so",
  { meta: { skipReason: "needs root" } },
  () => {
    const script = `import { createJail } from ${JSON.stringify(join(import.meta.dirname, "../src/jail.ts"))};
      const confinement = { workspace: "/tmp", network: false, readable: [], writable: [], hidden: [], limits: {} };
      const probe = await createJail({ clock: { after: () => () => {} } }).probe(confinement, new AbortController().signal);
      console.log(probe.reason);`;
    const args = ["--input-type=module-typescript", "-e", script];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", uid: 4321, gid: 4321 });
    expect(stdout).toContain("no line in /etc/passwd");
  },
);

describe("with firejail", () => {
  beforeEach(async (context) => {
    if ((await findProgram("firejail")) === undefined)
      requireReal(context, { name: "firejail", reason: "apt-get install firejail" });
  });

  // There it would run everything unconfined, and say that it went well.
  test("in a pid namespace it is not available", () => {
    const script = `import { createJail } from ${JSON.stringify(join(import.meta.dirname, "../src/jail.ts"))};
      const confinement = { workspace: ${JSON.stringify(folder())}, network: false, readable: [], writable: [], hidden: [], limits: {} };
      const probe = await createJail({ clock: { after: () => () => {} } }).probe(confinement, new AbortController().signal);
      console.log(JSON.stringify(probe));`;
    const namespace = process.getuid?.() === 0 ? "-pf" : "-Urpf";
    const args = [namespace, "--mount-proc", process.execPath, "--input-type=module-typescript", "-e", script];
    const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual({
      available: false,
      reason: expect.stringContaining("confines no command here"),
    });
  });

  test("a long command and many words arrive, beyond what firejail takes on its own command line", async () => {
    const session = await createJail({ clock: fakeClock() }).open(confine());
    const words = Array.from({ length: 500 }, (_, index) => `word ${index}`);
    const many = await session.exec({ command: ["sh", "-c", 'echo "$#"; printf %s "${500}"', "sh", ...words] });
    expect(many.stdout).toBe("500\nword 499");
    const long = await session.exec({ command: `printf %s '${"x".repeat(100_000)}' | wc -c` });
    expect(long.stdout.trim()).toBe("100000");
    await expect(session.exec({ command: ["echo", "x".repeat(200_000)] })).rejects.toMatchObject({
      code: "TOOL_BAD_INPUT",
    });
    expect((await session.exec({ command: ["./a=b"] })).exitCode).toBe(127);
    await session.close();
  });

  test("options of firejail among a command's words are the command's", async () => {
    const session = await createJail({ clock: fakeClock() }).open(confine());
    const words = ["--output=/tmp/x", "--appimage", "--", "--join=1", "--quiet"];
    const { stdout } = await session.exec({ command: ["printf", "%s|", ...words] });
    expect(stdout).toBe(words.map((word) => `${word}|`).join(""));
    await session.close();
  });

  test("a path that firejail would take for a pattern is refused, not misunderstood", async () => {
    for (const name of ["a*b", "a?b", "a[b]", "a,b", "${HOME}", "a'b", 'a"b', "a\nb"]) {
      const workspace = join(folder(), name);
      mkdirSync(workspace, { recursive: true });
      expect(await probeWith(undefined, confine({ workspace }))).toContain("rename the folder");
    }
  });

  test("what is hidden in a readable folder is covered; what it can't hide there it refuses", async () => {
    const readable = folder();
    const secret = join(readable, "secret");
    mkdirSync(secret);
    writeFileSync(join(secret, "key"), "canary");
    writeFileSync(join(readable, "note"), "hello");
    const jail = createJail({ clock: fakeClock() });
    const session = await jail.open(confine({ readable: [readable], hidden: [secret] }));
    const { stdout } = await session.exec({ command: ["sh", "-c", 'cat "$1/note" "$1/secret/key"', "sh", readable] });
    expect(stdout).toBe("hello");
    await session.close();
    const workspace = join(secret, "workspace");
    mkdirSync(workspace);
    expect(await probeWith(undefined, confine({ workspace, readable: [readable], hidden: [secret] }))).toContain(
      "can't hide a folder",
    );
  });

  test("a folder that is hidden can't be handed over as readable", async () => {
    const secret = folder();
    writeFileSync(join(secret, "key"), "canary");
    const session = await createJail({ clock: fakeClock() }).open(confine({ readable: [secret], hidden: [secret] }));
    expect((await session.exec({ command: `cat ${secret}/key` })).stdout).toBe("");
    await session.close();
  });

  // firejail copies some of it, such as the way to the display.
  test("nothing of the home can be read, with a workspace in it or elsewhere", async () => {
    const inHome = mkdtempSync(join(homedir(), "svc-jail-"));
    onTestFinished(() => rmSync(inHome, { recursive: true, force: true }));
    for (const workspace of [inHome, folder()]) {
      const session = await createJail({ clock: fakeClock() }).open(confine({ workspace }));
      // A file of its own making is there: it turns completion off.
      const command = `cd ${homedir()} && find . -type f ! -name .inputrc -exec cat {} +`;
      expect((await session.exec({ command })).stdout).toBe("");
      await session.close();
    }
  });

  test("nothing is left in /run/firejail", async () => {
    const workspace = folder();
    const session = await createJail({ clock: fakeClock() }).open(confine({ workspace }));
    const running = session.exec({ command: "until [ -e enough ]; do sleep 0.02; done" });
    const children = (): string[] =>
      execFileSync("ps", ["--ppid", String(process.pid), "-o", "pid=,comm="], { encoding: "utf8" })
        .split("\n")
        .flatMap((line) => /^\s*(\d+) firejail$/.exec(line)?.[1] ?? []);
    await expect.poll(children).not.toEqual([]);
    // Other tests run firejail at the same time, and some kill it.
    const own = new Set(children());
    const kept = (): string[] => filesOfJails().filter((file) => own.has(basename(file).split("-")[0]!));
    await expect.poll(kept).not.toEqual([]);
    writeFileSync(join(workspace, "enough"), "");
    await running;
    await session.close();
    expect(kept()).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "root's commands as another user need no line in /etc/passwd",
    { meta: { skipReason: "needs root" } },
    async () => {
      expect(spawnSync("getent", ["passwd", String(SANDBOX_USER.uid)]).status).not.toBe(0);
      const workspace = folder();
      execFileSync("chown", [`${SANDBOX_USER.uid}:${SANDBOX_USER.gid}`, workspace]);
      expect(await probeWith(undefined, confine({ workspace, user: SANDBOX_USER, limits: { pids: 32 } }))).toBe(
        "it is available",
      );
    },
  );

  test.skipIf(process.getuid?.() === 0)(
    "an ordinary user can't run commands as another one",
    { meta: { skipReason: "needs an ordinary user" } },
    async () => {
      expect(await probeWith(undefined, confine({ user: { uid: 1, gid: 1 } }))).toContain("Only root");
    },
  );
});

/** What firejail keeps of jails: files named by process id. */
const filesOfJails = (): string[] =>
  ["name", "network", "profile", "sandbox", "x11", "bandwidth"].flatMap((kind) => {
    const path = join("/run/firejail", kind);
    try {
      return readdirSync(path).map((entry) => join(path, entry));
    } catch {
      return [];
    }
  });
