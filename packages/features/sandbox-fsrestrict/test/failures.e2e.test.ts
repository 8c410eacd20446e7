// A command that was not confined must never look like one that ran, and one that ran never like one that was not.
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, SANDBOX_USER } from "@svc/kit/process";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { childCommand } from "./child-command.ts";
import { openBackend } from "./open-backend.ts";

test("a child that does not start, or ends before the command, is no command that failed", async () => {
  for (const command of [["/nowhere/svc"], ["/bin/sh", "-c", "exit 0"], ["/bin/false"]] as const) {
    await using opened = openBackend(command as readonly [string, ...string[]]);
    const probe = await opened.backend.probe(opened.confinement, new AbortController().signal);
    expect(probe).toMatchObject({ available: false });
    const session = await opened.backend.open(opened.confinement);
    const outcome = await session.exec({ command: "true" }).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ name: "SvcError" });
    await session.close();
  }
});

test("codes that the child itself ends with are the command's own", async () => {
  await using opened = openBackend();
  const session = await opened.backend.open(opened.confinement);
  for (const code of [1, 69, 126, 127]) {
    expect(await session.exec({ command: `exit ${code}` })).toMatchObject({ exitCode: code });
  }
  await session.close();
});

test("what can't be started is said to be so", async () => {
  await using opened = openBackend();
  const { workspace } = opened.confinement;
  writeFileSync(join(workspace, "plain"), "text");
  const session = await opened.backend.open(opened.confinement);
  for (const command of [["./plain"], ["nowhere"], ["echo", "x".repeat(200_000)]] as [string, ...string[]][]) {
    await expect(session.exec({ command })).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  }
  await session.close();
});

test("nothing of a command runs when its result is there, however long its memory takes to be freed", async () => {
  await using opened = openBackend();
  const session = await opened.backend.open(opened.confinement);
  const hide = `$held = "x" x 300_000_000; open(my $file, ">", "hidden"); print $file $$; close $file; sleep 600`;
  const { stdout } = await session.exec({
    command: `env -i setsid perl -e '${hide}' >/dev/null 2>&1 & while [ ! -s hidden ]; do sleep 0.02; done; cat hidden`,
  });
  expect(stdout).toMatch(/^\d+$/);
  expect(existsSync(`/proc/${stdout}`) ? readFileSync(`/proc/${stdout}/stat`, "latin1") : "").not.toMatch(/\) [^Z]/);
  await session.close();
});

test.skipIf(process.getuid?.() !== 0)(
  "root's workspace deep in folders of root's is there, and nothing beside it",
  { meta: { skipReason: "needs root" } },
  async () => {
    // The service makes its files for itself alone: what is made on the way to the workspace must be passable all the same.
    await using opened = openBackend(["/bin/sh", "-c", 'umask 077; exec "$@"', "sh", ...childCommand]);
    const workspace = join(opened.root, "private/home/agents/workspace");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(opened.root, "private/home/key"), "secret", { mode: 0o666 });
    chownSync(workspace, SANDBOX_USER.uid, SANDBOX_USER.gid);
    for (const folder of ["private", "private/home"]) chmodSync(join(opened.root, folder), 0o700);
    chmodSync(opened.root, 0o755);
    const confinement = { ...opened.confinement, workspace, user: SANDBOX_USER };
    expect(await opened.backend.probe(confinement, new AbortController().signal)).toMatchObject({ available: true });
    const session = await opened.backend.open(confinement);
    const result = await session.exec({ command: "echo made > file; pwd; cat ../../key; ls ../.." });
    expect(result.stdout).toBe(`${workspace}\n`);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("made\n");
    await session.close();
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "git works beside settings of the machine that no command may read",
  { meta: { skipReason: "needs root" } },
  async (context) => {
    for (const name of ["git", "unshare"])
      if ((await findProgram(name)) === undefined)
        requireReal(context, { name, reason: `${name} is not installed; apt-get install git util-linux` });
    const settings = `cp -a /etc/. /mnt && printf '[user]\\n\\tname = not-to-be-seen\\n' >/mnt/gitconfig &&
      echo '* text=not-to-be-seen' >/mnt/gitattributes`;
    const own = `mount -t tmpfs none /mnt && ${settings} && mount --bind /mnt /etc && exec "$@"`;
    await using opened = openBackend(["/usr/bin/unshare", "--mount", "/bin/sh", "-c", own, "sh", ...childCommand]);
    const session = await opened.backend.open(opened.confinement);
    const line = `git init -q made && cd made && echo a >a && git add a && git -c user.name=n -c user.email=e commit -q -m m &&
      git check-attr text a; git config --list; cat /etc/gitconfig`;
    const result = await session.exec({ command: line });
    expect(result.stdout).toContain("a: text: unspecified\n");
    expect(result.stdout).not.toContain("not-to-be-seen");
    expect(result.stderr).toBe("cat: /etc/gitconfig: Permission denied\n");
    await session.close();
  },
);

test("a folder with something hidden in it can't be handed over", async () => {
  await using opened = openBackend();
  const folder = join(opened.root, "given");
  mkdirSync(join(folder, "deep", "secret"), { recursive: true });
  const hidden = [join(folder, "deep", "secret")];
  for (const asked of [{ readable: [folder] }, { writable: [folder] }, { readable: ["/"] }]) {
    const confinement = { ...opened.confinement, ...asked, hidden };
    await expect(opened.backend.open(confinement)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    const probe = await opened.backend.probe(confinement, new AbortController().signal);
    expect(probe).toMatchObject({ available: false });
  }
  const beside = { ...opened.confinement, readable: [`${folder}/deep`], hidden: [`${folder}/deeper`] };
  expect(await opened.backend.probe(beside, new AbortController().signal)).toMatchObject({ available: true });
});

test("signals are as a program expects them, and no descriptor is open but three", async () => {
  await using opened = openBackend();
  const session = await opened.backend.open(opened.confinement);
  const { stdout } = await session.exec({
    command: ["grep", "-E", "^(SigIgn|SigBlk|Seccomp|NoNewPrivs|CapBnd):", "/proc/self/status"],
  });
  expect(stdout).toMatch(/SigBlk:\s+0{16}\n/);
  expect(stdout).toMatch(/SigIgn:\s+0{16}\n/);
  expect(stdout).toMatch(/NoNewPrivs:\s+1\n/);
  expect(stdout).toMatch(/Seccomp:\s+2\n/);
  const fds = await session.exec({ command: ["ls", "/proc/self/fd"] });
  // The fourth is the folder that ls(1) reads.
  expect(fds.stdout).toBe("0\n1\n2\n3\n");
  const pipe = await session.exec({ command: "yes | head -n 1; echo ${?}" });
  expect(pipe.stdout).toBe("y\n0\n");
  await session.close();
});

test("an environment of other processes stays closed when the owner opens /proc", async () => {
  await using opened = openBackend();
  const session = await opened.backend.open({ ...opened.confinement, readable: ["/proc"] });
  const { stdout } = await session.exec({
    command: `cat /proc/${process.pid}/comm; cat /proc/${process.pid}/environ /proc/${process.pid}/maps | wc -c; cat /proc/self/environ | tr '\\0' '\\n' | grep -c HOME=`,
  });
  expect(stdout.split("\n").slice(1, 3)).toEqual(["0", "1"]);
  await session.close();
});
